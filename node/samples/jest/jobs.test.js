// A worker on ioredis, with hooks that make its group.

const { expect } = require("@jest/globals");
const { Cluster, Redis } = require("ioredis");
const { test: testWithSpace, useSnapshot, useTailrace, withSpace } = require("tailrace/jest");

const space = useTailrace();
/** @type {Redis} */
let client;
/** @type {Redis[]} */
let clients = [];

function connect() {
  const made = new Redis(space.td.url, { maxRetriesPerRequest: 1 });
  // Who asks hears of it.
  made.on("error", () => {});
  clients.push(made);
  return made;
}

beforeEach(async () => {
  client = connect();
  await client.xgroup("CREATE", "jobs", "workers", "0", "MKSTREAM");
});

afterEach(() => {
  clients.forEach((made) => made.disconnect());
  clients = [];
});

/**
 * @param {Redis} client
 * @param {string} worker
 */
function read(client, worker) {
  return client.xreadgroup("GROUP", "workers", worker, "BLOCK", 0, "STREAMS", "jobs", ">");
}

test("a worker that was cut off goes on with what it had", async () => {
  const { td } = space;
  await client.xadd("jobs", "*", "task", "resize");
  const fault = await td.fault("XREADGROUP", { after: "close", times: 1, consumer: "alice" });

  // ioredis asks again by itself once it is connected again; the entry is pending by then.
  const waiting = read(connect(), "alice");
  await td.waitBlocked(1, { consumer: "alice" });
  expect(await fault.hits()).toBe(1);
  await td.assertPending("jobs", "workers", 1);
  await client.xadd("jobs", "*", "task", "rotate");
  expect(await waiting).toEqual([["jobs", [[expect.any(String), ["task", "rotate"]]]]]);
});

test("a peer claims while an acknowledgement is under way", async () => {
  const { td } = space;
  const id = /** @type {string} */ (await client.xadd("jobs", "*", "task", "resize"));
  const worker = connect();
  await read(worker, "slow");
  const gate = await td.fault("XACK", { before: "hold" });
  const acknowledged = worker.xack("jobs", "workers", id);
  await td.waitHeld(gate);

  await client.xclaim("jobs", "workers", "peer", 0, id);
  await gate.release();

  expect(await acknowledged).toBe(1);
  await td.assertDrained("jobs", "workers");
});

testWithSpace("keys expire when the clock says so", async ({ td }) => {
  await td.freeze();
  await td.call("SET", "lock", "alice", "PX", 30_000);
  await td.advance(30_000);
  expect(await td.call("EXISTS", "lock")).toBe(1);
  await td.advance(1);
  expect(await td.call("EXISTS", "lock")).toBe(0);
});

describe("with data that are there", () => {
  const orders = useSnapshot("orders", "XADD orders 1-1 sku 7\nXGROUP CREATE orders workers 0");
  const testWithOrders = withSpace(() => ({ from: orders.snapshot, nodes: 3 }));

  for (const round of [1, 2]) {
    testWithOrders(`an order is packed, time ${round}`, async ({ td }) => {
      expect(td.nodes).toHaveLength(3);
      await td.assertLag("orders", "workers", 1);
      const client = new Cluster([{ host: td.host, port: td.port }]);
      await client.xreadgroup("GROUP", "workers", "alice", "STREAMS", "orders", ">");
      await client.xack("orders", "workers", "1-1");
      await td.assertExactlyOnce("orders", "workers");
      client.disconnect();
    });
  }
});
