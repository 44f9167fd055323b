// A worker's life cycle with node-redis: MODULE HOST:PORT PROTOCOL default|explicit|cluster.
"use strict";

const assert = require("node:assert/strict");
const { blockedClients, main, tallied, unusedKey, untilMore } = require("./checks.js");

const [name, address, protocol, choice] = process.argv.slice(2);
const { createClient, createCluster } = require(name);

const GROUP = "workers";
const key = unusedKey(name);

main(async () => {
  const db = await connect();
  const other = await connectToNode();
  assert.match(await other.sendCommand(["CLIENT", "INFO"]), new RegExp(` resp=${protocol} `));

  const ids = await joinAndAdd(db);
  await readAndAcknowledge(db, ids);
  await rereadAndClaim(db, ids);
  await lookAround(db, other, ids);

  assert.equal(await db.xTrim(key, "MAXLEN", 10), 90);
  assert.equal(await db.xLen(key), 10);

  await waitInVainAndBeWoken(db, other);

  assert.equal(Number(await db.xGroupDestroy(key, GROUP)), 1);
  assert.equal(await db.del(key), 1);
  await db.quit();
  await other.quit();
});

function connect() {
  const url = `redis://${address}`;
  return opened(choice === "cluster" ? createCluster({ rootNodes: [{ url }] }) : client(url));
}

/** The one that looks on and wakes the other, at the node that has the key. */
function connectToNode() {
  return opened(client(`redis://${process.env.CLIENTS_NODE ?? address}`));
}

function client(url) {
  return createClient(choice === "explicit" ? { url, RESP: Number(protocol) } : { url });
}

async function opened(client) {
  // The library tries for ever to connect again; here the first error ends the run.
  client.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await client.connect();
  return client;
}

async function joinAndAdd(db) {
  assert.equal(await db.xGroupCreate(key, GROUP, "0", { MKSTREAM: true }), "OK");
  await assert.rejects(db.xGroupCreate(key, GROUP, "0", { MKSTREAM: true }), {
    message: "BUSYGROUP Consumer Group name already exists",
  });

  // Not awaited one by one: the client sends them as one pipeline.
  const adds = Array.from({ length: 100 }, (_, n) =>
    db.xAdd(key, "*", { n: String(n), kind: "order" }),
  );
  return Promise.all(adds);
}

async function readAndAcknowledge(db, ids) {
  const entries = await read(db, "alice", ">", { COUNT: 100 });
  assert.deepEqual(entries.map((entry) => entry.id), ids);
  entries.forEach(({ message }, n) =>
    assert.deepEqual({ ...message }, { n: String(n), kind: "order" }),
  );
  assert.deepEqual(await deliveries(db, ids), { 1: 100 });
  assert.equal(await db.xAck(key, GROUP, ids.slice(0, 60)), 60);
}

async function rereadAndClaim(db, ids) {
  const entries = await read(db, "alice", "0", { COUNT: 100 });
  assert.deepEqual(entries.map((entry) => entry.id), ids.slice(60));
  assert.deepEqual(await deliveries(db, ids), { 2: 40 });

  const two = ids.slice(60, 62);
  const claimed = await db.xClaim(key, GROUP, "bob", 0, two);
  assert.deepEqual(claimed.map((entry) => entry.message.n), ["60", "61"]);
  assert.deepEqual(await deliveries(db, two), { 3: 2 });
  assert.deepEqual(await db.xClaimJustId(key, GROUP, "bob", 0, two), two);
  assert.deepEqual(await deliveries(db, two), { 3: 2 });

  const reply = await db.xAutoClaim(key, GROUP, "carol", 0, "0-0", { COUNT: 10 });
  assert.equal(reply.nextId, ids[70]);
  assert.deepEqual(reply.messages.map((entry) => entry.id), ids.slice(60, 70));
  assert.deepEqual(await deliveries(db, ids), { 4: 2, 3: 8, 2: 30 });
}

async function lookAround(db, other, ids) {
  const summary = await db.xPending(key, GROUP);
  assert.deepEqual([summary.pending, summary.firstId, summary.lastId], [40, ids[60], ids[99]]);
  const counts = pendingByConsumer(summary.consumers, "deliveriesCounter");
  assert.deepEqual(counts, { alice: 30, carol: 10 });
  const rows = await db.xPendingRange(key, GROUP, "-", "+", 100, { consumer: "carol" });
  assert.deepEqual(rows.map((row) => row.id), ids.slice(60, 70));

  const info = await db.xInfoStream(key);
  assert.deepEqual([info.length, info.groups], [100, 1]);
  // Version 4 renames the facts, and drops those that it does not know.
  assert.equal(info["last-generated-id"] ?? info.lastGeneratedId, ids[99]);
  const [group] = await db.xInfoGroups(key);
  assert.deepEqual([group.name, group.consumers, group.pending], [GROUP, 3, 40]);
  assert.equal(group["last-delivered-id"] ?? group.lastDeliveredId, ids[99]);
  const facts = await rawGroup(other);
  assert.deepEqual([facts["entries-read"], facts.lag], [100, 0]);

  const consumers = await db.xInfoConsumers(key, GROUP);
  assert.deepEqual(pendingByConsumer(consumers, "pending"), { alice: 30, bob: 0, carol: 10 });
}

async function waitInVainAndBeWoken(db, other) {
  assert.equal(await db.xReadGroup(GROUP, "alice", { key, id: ">" }, { BLOCK: 10 }), null);

  const blocked = async () => blockedClients(await other.info("clients"));
  const before = await blocked();
  const waiting = read(db, "alice", ">", { COUNT: 1, BLOCK: 5000 });
  await untilMore(before, blocked);
  const woken = await other.xAdd(key, "*", { n: "woken" });
  const [entry] = await waiting;
  assert.deepEqual([entry.id, entry.message.n], [woken, "woken"]);
}

async function read(db, consumer, id, options) {
  const [stream] = await db.xReadGroup(GROUP, consumer, { key, id }, options);
  assert.equal(stream.name, key);
  return stream.messages;
}

async function deliveries(db, ids) {
  const rows = await db.xPendingRange(key, GROUP, ids[0], ids.at(-1), 100);
  return tallied(rows.map((row) => row.deliveriesCounter));
}

/** XINFO GROUPS unparsed: a map in RESP3, names and values in turn in RESP2. */
async function rawGroup(db) {
  const [group] = await db.sendCommand(["XINFO", "GROUPS", key]);
  if (!Array.isArray(group)) return group;
  const facts = {};
  for (let at = 0; at < group.length; at += 2) facts[group[at]] = group[at + 1];
  return facts;
}

function pendingByConsumer(rows, field) {
  return Object.fromEntries(rows.map((row) => [row.name, row[field]]));
}
