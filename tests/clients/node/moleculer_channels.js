// Services of Moleculer that hear of orders over channels on streams: HOST:PORT [worker CHANNEL].
//
// Each group hears every order, and in a group one service each. Who is killed with orders in hand leaves
// them to the next; an order that fails three times goes to the dead letters.
"use strict";

const assert = require("node:assert/strict");

const { Middleware } = require("@moleculer/channels");
const Redis = require("ioredis");
const { ServiceBroker } = require("moleculer");

const { Events, main, unusedKey, until } = require("./checks.js");
const { awaitLine, kill, worker } = require("./killed.js");

const [address, role, given] = process.argv.slice(2);
const [host, port] = address.split(":");
const channel = given ?? unusedKey("moleculer");
const dead = `${channel}:dead`;

const GROUP = "shipping";
const IN_HAND = 5;
const RETRIES_MAX = 3;

main(role === "worker" ? takeInHand : story);

async function story() {
  const db = new Redis({ host, port: Number(port) });
  const producer = await start("producer", []);
  const alice = worker(address, "worker", channel);
  await awaitLine(alice, "ready");
  const orders = Array.from({ length: IN_HAND }, (_, n) => n);
  for (const n of orders) await producer.sendToChannel(channel, { n });
  await awaitLine(alice, "begun");
  await kill(alice);
  assert.equal((await db.xpending(channel, GROUP))[0], IN_HAND);

  const shipped = new Events();
  const billed = new Events();
  const bob = await start("bob", [
    service("shipping", GROUP, ({ n }, { headers }) => {
      shipped.push([n, headers?.source]);
      if (n === "poison") throw new Error("not to be shipped");
    }),
    // A group that comes later, and begins with what is there.
    service("billing", "billing", ({ n }) => billed.push(n)),
  ]);
  const inHand = await shipped.take(IN_HAND);
  assert.deepEqual(inHand.map(([n]) => n).sort(), orders);
  await until(0, () => pending(db), "orders that alice had in hand");

  await producer.sendToChannel(channel, { n: "late" }, { headers: { source: "web" } });
  assert.deepEqual(await shipped.next(), ["late", "web"]);
  await producer.sendToChannel(channel, { n: "poison" });
  for (let time = 0; time < RETRIES_MAX; time++) assert.equal((await shipped.next())[0], "poison");
  await until(1, () => db.xlen(dead), "dead letters");
  await until(0, () => pending(db), "orders not acknowledged");
  await lookAtTheDead(db);
  assert.deepEqual(await billed.take(IN_HAND + 2), [...orders, "late", "poison"]);

  for (const broker of [bob, producer]) await broker.stop();
  // Who stops takes leave; who was killed is still there.
  const consumers = await db.xinfo("CONSUMERS", channel, GROUP);
  assert.equal(consumers.length, 1);
  assert.equal(await db.del(channel, dead), 2);
  await db.quit();
  process.exit(0);
}

async function lookAtTheDead(db) {
  const [[, [, payload, , headers]]] = await db.xrange(dead, "-", "+");
  assert.deepEqual(JSON.parse(payload), { n: "poison" });
  const [[id]] = await db.xrevrange(channel, "+", "-", "COUNT", 1);
  assert.deepEqual(JSON.parse(headers), {
    "x-original-id": id,
    "x-original-channel": channel,
    "x-original-group": GROUP,
  });
}

/** Takes orders in hand and never lets go of them. */
async function takeInHand() {
  let begun = 0;
  const handler = () => {
    begun += 1;
    if (begun === IN_HAND) console.log("begun");
    return new Promise(() => {});
  };
  await start("alice", [service("shipping", GROUP, handler)]);
  console.log("ready");
}

function service(name, group, handler) {
  const intervals = { minIdleTime: 50, claimInterval: 10, processingAttemptsInterval: 10 };
  const redis = { startID: "0", ...intervals };
  const deadLettering = { enabled: true, queueName: dead };
  const options = { group, redis, maxInFlight: 10, maxRetries: RETRIES_MAX, deadLettering };
  return { name, channels: { [channel]: { ...options, handler } } };
}

async function start(nodeID, services) {
  const adapter = { type: "Redis", options: { redis: { host, port: Number(port) } } };
  const middlewares = [Middleware({ adapter })];
  const broker = new ServiceBroker({ nodeID, logger: false, middlewares });
  for (const service of services) broker.createService(service);
  await broker.start();
  return broker;
}

async function pending(db) {
  return (await db.xpending(channel, GROUP))[0];
}
