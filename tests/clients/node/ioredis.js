// A worker's life cycle with ioredis and its fork iovalkey: MODULE HOST:PORT PROTOCOL CHOICE.
//
// CHOICE is default, explicit or cluster.
"use strict";

const assert = require("node:assert/strict");
const { blockedClients, main, tallied, unusedKey, untilMore } = require("./checks.js");

const [name, address, protocol, choice] = process.argv.slice(2);
const Redis = require(name);

const GROUP = "workers";
const key = unusedKey(name);

main(async () => {
  const db = connect();
  const other = connectToNode();
  assert.match(await other.client("INFO"), new RegExp(` resp=${protocol} `));

  const ids = await joinAndAdd(db);
  await readAndAcknowledge(db, ids);
  await rereadAndClaim(db, ids);
  await lookAround(db, ids);

  assert.equal(await db.xtrim(key, "MAXLEN", 10), 90);
  assert.equal(await db.xlen(key), 10);

  await waitInVainAndBeWoken(db, other);

  assert.equal(await db.xgroup("DESTROY", key, GROUP), 1);
  assert.equal(await db.del(key), 1);
  assert.equal(await db.quit(), "OK");
  assert.equal(await other.quit(), "OK");
});

function connect() {
  return opened(choice === "cluster" ? new Redis.Cluster([node(address)]) : client(address));
}

/** The one that looks on and wakes the other, at the node that has the key. */
function connectToNode() {
  return opened(client(process.env.CLIENTS_NODE ?? address));
}

function client(address) {
  const options = node(address);
  if (choice === "explicit") options.protocol = Number(protocol);
  return new Redis(options);
}

function node(address) {
  const [host, port] = address.split(":");
  return { host, port: Number(port) };
}

function opened(client) {
  // The library tries for ever to connect again; here the first error ends the run.
  client.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  return client;
}

async function joinAndAdd(db) {
  assert.equal(await db.xgroup("CREATE", key, GROUP, "0", "MKSTREAM"), "OK");
  await assert.rejects(db.xgroup("CREATE", key, GROUP, "0", "MKSTREAM"), {
    message: "BUSYGROUP Consumer Group name already exists",
  });

  // Not awaited one by one: the client sends them as one pipeline.
  const adds = Array.from({ length: 100 }, (_, n) => db.xadd(key, "*", "n", n, "kind", "order"));
  return Promise.all(adds);
}

async function readAndAcknowledge(db, ids) {
  const entries = await read(db, "alice", ">", "COUNT", 100);
  assert.deepEqual(idsOf(entries), ids);
  entries.forEach(([, fields], n) => assert.deepEqual(fields, ["n", String(n), "kind", "order"]));
  assert.deepEqual(await deliveries(db, ids), { 1: 100 });
  assert.equal(await db.xack(key, GROUP, ...ids.slice(0, 60)), 60);
}

async function rereadAndClaim(db, ids) {
  const entries = await read(db, "alice", "0", "COUNT", 100);
  assert.deepEqual(idsOf(entries), ids.slice(60));
  assert.deepEqual(await deliveries(db, ids), { 2: 40 });

  const two = ids.slice(60, 62);
  assert.deepEqual(idsOf(await db.xclaim(key, GROUP, "bob", 0, ...two)), two);
  assert.deepEqual(await deliveries(db, two), { 3: 2 });
  assert.deepEqual(await db.xclaim(key, GROUP, "bob", 0, ...two, "JUSTID"), two);
  assert.deepEqual(await deliveries(db, two), { 3: 2 });

  const args = [key, GROUP, "carol", 0, "0-0", "COUNT", 10];
  const [cursor, claimed, deleted] = await db.xautoclaim(...args);
  assert.deepEqual([cursor, idsOf(claimed), deleted], [ids[70], ids.slice(60, 70), []]);
  assert.deepEqual(await deliveries(db, ids), { 4: 2, 3: 8, 2: 30 });
}

async function lookAround(db, ids) {
  // The counts in the summary are strings on the wire.
  const consumers = [["alice", "30"], ["carol", "10"]];
  assert.deepEqual(await db.xpending(key, GROUP), [40, ids[60], ids[99], consumers]);
  const rows = await db.xpending(key, GROUP, "-", "+", 100, "carol");
  assert.deepEqual(rows.map(([id]) => id), ids.slice(60, 70));

  const info = facts(await db.xinfo("STREAM", key));
  assert.deepEqual([info.length, info.groups, info["entries-added"]], [100, 1, 100]);
  assert.equal(info["last-generated-id"], ids[99]);
  assert.deepEqual(info["first-entry"], [ids[0], ["n", "0", "kind", "order"]]);
  const full = facts(await db.xinfo("STREAM", key, "FULL"));
  assert.equal(facts(full.groups[0])["pel-count"], 40);

  const group = facts((await db.xinfo("GROUPS", key))[0]);
  assert.deepEqual([group.name, group.consumers, group.pending], [GROUP, 3, 40]);
  assert.equal(group["last-delivered-id"], ids[99]);
  assert.deepEqual([group["entries-read"], group.lag], [100, 0]);

  const members = (await db.xinfo("CONSUMERS", key, GROUP)).map(facts);
  const pending = Object.fromEntries(members.map((member) => [member.name, member.pending]));
  assert.deepEqual(pending, { alice: 30, bob: 0, carol: 10 });
}

async function waitInVainAndBeWoken(db, other) {
  const args = ["GROUP", GROUP, "alice", "BLOCK", 10, "STREAMS", key, ">"];
  assert.equal(await db.xreadgroup(...args), null);

  const blocked = async () => blockedClients(await other.info("clients"));
  const before = await blocked();
  const waiting = read(db, "alice", ">", "BLOCK", 5000, "COUNT", 1);
  await untilMore(before, blocked);
  const woken = await other.xadd(key, "*", "n", "woken");
  assert.deepEqual(await waiting, [[woken, ["n", "woken"]]]);
}

async function read(db, consumer, after, ...options) {
  const reply = await db.xreadgroup("GROUP", GROUP, consumer, ...options, "STREAMS", key, after);
  const [[stream, entries]] = reply;
  assert.equal(stream, key);
  return entries;
}

async function deliveries(db, ids) {
  const rows = await db.xpending(key, GROUP, ids[0], ids.at(-1), 100);
  return tallied(rows.map(([, , , count]) => count));
}

function idsOf(entries) {
  return entries.map(([id]) => id);
}

/** Names and values in turn, as an object. */
function facts(flat) {
  const object = {};
  for (let at = 0; at < flat.length; at += 2) object[flat[at]] = flat[at + 1];
  return object;
}
