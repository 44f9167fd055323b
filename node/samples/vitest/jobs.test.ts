// A worker on node-redis, whose minute passes at once and whose replies get lost.

import { createClient } from "redis";
import { expect } from "vitest";
import type { Snapshot, SpaceOptions } from "tailrace";
import { test as base } from "tailrace/vitest";

function clientOf(url: string) {
  const client = createClient({ url });
  // Who asks hears of it; that nobody listens must not end the process.
  client.on("error", () => {});
  return client;
}

type Client = ReturnType<typeof clientOf>;

const test = base.extend<{ client: Client; connect: () => Promise<Client> }>({
  connect: async ({ td }, use) => {
    const clients: Client[] = [];
    await use(async () => {
      const client = clientOf(td.url);
      clients.push(client);
      await client.connect();
      return client;
    });
    clients.forEach((client) => client.destroy());
  },
  client: async ({ connect }, use) => {
    const client = await connect();
    await client.xGroupCreate("jobs", "workers", "0", { MKSTREAM: true });
    await use(client);
  },
});

const FRIDAY = Date.UTC(2025, 10, 28);

function read(client: Client, worker: string, block?: number) {
  return client.xReadGroup("workers", worker, { key: "jobs", id: ">" }, block === undefined ? {} : { BLOCK: block });
}

test("a job whose worker fell silent goes to another after a minute", async ({ td, client }) => {
  await td.freeze(FRIDAY);
  const id = await client.xAdd("jobs", "*", { task: "resize" });
  expect(id).toBe(`${FRIDAY}-0`);
  await read(client, "alice");

  await td.advance(59_999);
  const early = await client.xAutoClaim("jobs", "workers", "bob", 60_000, "0");
  expect(early.messages).toEqual([]);
  await td.advance(1);
  const { messages } = await client.xAutoClaim("jobs", "workers", "bob", 60_000, "0");

  expect(messages.map((message) => message?.id)).toEqual([id]);
  await td.assertPending("jobs", "workers", 1);
});

test("an acknowledgement whose reply is lost has counted all the same", async ({ td, client, connect }) => {
  const id = await client.xAdd("jobs", "*", { task: "resize" });
  await read(client, "alice");
  const fault = await td.fault("XACK", { after: "close", times: 1 });

  const worker = await connect();
  await expect(worker.xAck("jobs", "workers", id)).rejects.toThrow();

  expect(await fault.hits()).toBe(1);
  expect(await client.xAck("jobs", "workers", id)).toBe(0);
  await td.assertDrained("jobs", "workers");
});

test("a worker that is cut off with a job in hand loses nothing", async ({ td, client, connect }) => {
  await td.freeze(FRIDAY);
  await client.xAdd("jobs", "*", { task: "resize" });
  const worker = await connect();
  await read(worker, "alice");
  const waiting = read(worker, "alice", 0);
  await td.waitBlocked(1, { consumer: "alice" });
  await Promise.all([expect(waiting).rejects.toThrow(), td.killConsumer("jobs", "workers", "alice")]);

  await td.advance(60_000);
  const { messages } = await client.xAutoClaim("jobs", "workers", "bob", 60_000, "0");
  await client.xAck("jobs", "workers", messages.map((message) => message!.id));

  await td.assertAtLeastOnce("jobs", "workers");
});

test("a worker that waits is woken", async ({ td, client, connect }) => {
  const worker = await connect();
  const waiting = read(worker, "alice", 0);
  await td.waitBlocked(1, { group: "workers", consumer: "alice" });
  await client.xAdd("jobs", "*", { task: "resize" });
  expect(await waiting).toMatchObject([{ messages: [{ message: { task: "resize" } }] }]);
});

test("a wait ends when its time is over", async ({ td, connect, client: _ }) => {
  await td.freeze();
  const worker = await connect();
  const waiting = read(worker, "alice", 5_000);
  await td.waitBlocked();
  await td.advance(5_000);
  expect(await waiting).toBeNull();
});

test.concurrent.for([1, 2, 3])("tests at the same time do not see each other: %i", async (number, { td, expect }) => {
  await td.freeze(number);
  expect(await td.call("XADD", "s", "*", "number", number)).toBe(`${number}-0`);
  expect(await td.call("XLEN", "s")).toBe(1);
});

/** What tests begin with is made once for each worker, and each test has a copy. */
const busy = test.extend<{ spaceOptions: SpaceOptions; orders: Snapshot }>({
  orders: [
    async ({ tailrace }, use) => {
      await use(await tailrace.keep("orders", "XADD jobs * task resize\nXADD jobs * task mail"));
    },
    { scope: "worker" },
  ],
  spaceOptions: async ({ orders }, use) => {
    await use({ from: orders });
  },
});

for (const worker of ["alice", "bob"]) {
  busy(`${worker} does all there is to do`, async ({ td, client }) => {
    await read(client, worker);
    const pending = await client.xPendingRange("jobs", "workers", "-", "+", 10);
    expect(await client.xAck("jobs", "workers", pending.map(({ id }) => id))).toBe(2);
    await td.assertExactlyOnce("jobs", "workers");
  });
}

const clustered = base.extend({ spaceOptions: { nodes: 3 } });

clustered("a cluster is one line away", async ({ td }) => {
  expect(td.nodes).toHaveLength(3);
});
