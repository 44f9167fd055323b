// What the verbs say to the server, and what they make of its replies.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Redis } from "ioredis";
import { createClient } from "redis";
import { ReplyError, start, TailraceAssertionError, TestDouble, within } from "tailrace";

const MINUTE = 60_000;
let server;

before(async () => {
  server = await start();
});

after(async () => {
  await server.stop();
});

/** Declares a test that has a space. */
function spaced(name, run) {
  test(name, () => within(server, run));
}

spaced("the clock stands, moves and goes on", async (td) => {
  assert.equal(await td.freeze(new Date(MINUTE)), MINUTE);
  assert.equal(await td.advance(MINUTE), 2 * MINUTE);
  assert.equal(await td.advanceTo(5 * MINUTE), 5 * MINUTE);
  assert.equal(await td.skew(-MINUTE), 4 * MINUTE);
  await td.call("SET", "k", "v", "PX", 100);
  const { mode, now, next, blocked } = await td.clock();
  assert.deepEqual([mode, now, next, blocked], ["frozen", 4 * MINUTE, 4 * MINUTE + 101, 0]);
  assert.equal(await td.nextDeadline(), 4 * MINUTE + 101);
  assert.equal(await td.run(10), 4 * MINUTE + 111);
  await td.auto(2);
  assert.equal((await td.clock()).mode, "auto");
  await td.tick(5);
  const at = await td.now();
  await td.call("PING");
  assert.equal(await td.now(), at + 5);
  await td.scale(1_000);
  assert.equal((await td.clock()).mode, "scale 1000");
  await td.real();
  assert.equal((await td.clock()).mode, "real");
});

spaced("each kind of fault is understood", async (td) => {
  const effects = ["close", "rst", "hold", "stall", "nil", "loading", "readonly", "oom", "clusterdown"];
  effects.push("masterdown", "tryagain", "busy", "nogroup", { reply: ":7" }, { error: "ERR no" }, { delay: 5 });
  for (const effect of effects) {
    await td.fault("XADD", { before: effect });
  }
  for (const effect of [{ cut: 3 }, { drip: 1, every: 5 }]) {
    await td.fault("*", { after: effect, key: "k*", group: "g", consumer: "c", client: "w", skip: 1, times: "always" });
  }
  assert.equal((await td.td("FAULT", "LIST")).length, effects.length + 2);
  await td.clearFaults();
  const fault = await td.fault("GET", { after: { reply: "+hello" }, times: 2, probability: 1, name: "f" });
  assert.equal(await td.call("GET", "k"), "hello");
  assert.equal(await fault.hits(), 1);
  await fault.remove();
  assert.equal(await td.call("GET", "k"), null);
  await assert.rejects(td.fault("GET", {}), /a fault says what it does/);
});

spaced("what is kept back is let go", async (td) => {
  const other = new TestDouble(td.url);
  const fault = await td.fault("GET", { before: "hold", times: "always" });
  const replies = [other.call("GET", "k"), new TestDouble(td.url).call("GET", "k")];
  await td.waitHeld(fault, 2);
  assert.equal(await fault.release(1), 1);
  assert.equal(await td.release(fault.name), 1);
  assert.deepEqual(await Promise.all(replies), [null, null]);
});

spaced("pushes are lost, and faults are read from lines", async (td) => {
  const listener = createClient({ url: td.url });
  await listener.connect();
  const heard = [];
  await listener.subscribe("news", (text) => heard.push(text));
  await td.assertSubscribed("news");
  const lost = await td.fault("message", { push: "drop", key: "news" });
  await td.call("PUBLISH", "news", "one");
  await td.call("PUBLISH", "news", "two");
  // What it hears first is the second.
  await listener.ping();
  assert.deepEqual(heard, ["two"]);
  assert.equal(await lost.hits(), 1);
  listener.destroy();
  assert.equal(await td.loadFaults("f CMD PING BEFORE BUSY\ng CMD ECHO BEFORE NIL"), 2);
  await assert.rejects(td.call("PING"), /BUSY/);
  await td.clearFaults();
});

spaced("calls are found, counted and forgotten", async (td) => {
  await td.call("SET", "k", "v");
  await td.call("LPUSH", "l", "v").catch(() => {});
  const [call] = await td.calls({ command: "SET", key: "k" });
  assert.deepEqual([call.call, call.reply, call.fault], [["SET", "k", "v"], "+OK\r\n", null]);
  assert.equal(await td.countCalls({ onlyErrors: true }), 1);
  assert.equal((await td.calls({ since: 1, limit: 5 })).length, 1);
  assert.deepEqual(await td.unsupported(), { lpush: 1 });
  await td.assertCalls("SET", 1);
  await td.clearCalls();
  assert.deepEqual(await td.calls(), []);
});

spaced("waits and assertions hold, or say what is the case", async (td) => {
  await td.call("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM");
  const reader = new TestDouble(td.url);
  const waiting = reader.call("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "s", ">");
  await td.waitBlocked(1, { key: "s", group: "g", consumer: "c" });
  await td.assertBlocked(">= 1", { group: "g" });
  const arrived = Promise.all([
    td.waitLen("s", 1),
    td.waitEntry("s", "f", "v"),
    td.waitPending("s", "g", ">= 1"),
    td.waitCalls("XREADGROUP", 1, { consumer: "c" }),
  ]);
  // What waits does not hold up what the test does meanwhile.
  const id = await td.call("XADD", "s", "*", "f", "v");
  await arrived;
  await waiting;
  await td.assertPending("s", "g", 1);
  await td.assertLen("s", "< 2");
  await td.assertLag("s", "g", 0);
  await td.assertEntry("s", "f", "v");
  await td.assertClients(2);
  await td.waitClients(">= 2");
  await td.assertIdle();
  await assert.rejects(td.assertHeld("gate"), /what gate holds is 0/);
  await assert.rejects(td.waitNoLeak("s", "g", { timeout: 1 }), TailraceAssertionError);
  const refused = { name: "TailraceAssertionError", message: "s g is not drained: 0 to read, 1 pending, 1 of them with c" };
  await assert.rejects(td.assertDrained("s", "g"), refused);
  await assert.rejects(td.waitDrained("s", "g", { timeout: 1 }), TailraceAssertionError);
  await td.call("XACK", "s", "g", id);
  await td.waitDrained("s", "g");
  await td.waitLag("s", "g", 0);
  await td.waitIdle();
});

spaced("errors are thrown where the test asked", async (td) => {
  const error = await td.call("INCR").catch((thrown) => thrown);
  assert.ok(error instanceof ReplyError);
  assert.match(error.stack, /verbs\.test\.mjs/);
  const failed = await td.assertLen("s", 1).catch((thrown) => thrown);
  assert.match(failed.stack, /verbs\.test\.mjs/);
});

spaced("the ledger of a space is kept from the start", async (td) => {
  const lost = await td.call("XADD", "s", "*", "f", "v");
  await td.call("XGROUP", "CREATE", "s", "g", 0);
  const [[, [[id]]]] = await td.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
  assert.equal(id, lost);
  await assert.rejects(td.assertAtLeastOnce("s", "g"), TailraceAssertionError);
  await assert.rejects(td.assertNoLeak("s", "g"), TailraceAssertionError);
  const settled = td.waitAtLeastOnce("s", "g");
  await td.call("XACK", "s", "g", id);
  await settled;
  await td.assertExactlyOnce("s", "g");
  await td.waitExactlyOnce("s", "g");
  await td.assertNoLeak("s", "g");
  await td.waitNoLeak("s", "g");
  await td.assertNoLoss("s", "g");
  await assert.rejects(td.assertAtLeastOnce("s", "g", { worked: true }), TailraceAssertionError);
  const { acked, consumers } = await td.ledger("s", "g");
  assert.deepEqual([acked, consumers.c], [1, { deliveries: 1, acks: 1, pending: 0 }]);
  await td.startLedger("s");
  await td.call("XGROUP", "SETID", "s", "g", 0);
  assert.equal(await td.worked("s", "g", id), 1);
  await td.stopLedger();
  await assert.rejects(td.ledger("s", "g"), /the ledger is off/);
});

spaced("clients and consumers are cut off", async (td) => {
  await td.call("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM");
  const worker = new TestDouble(td.url);
  await worker.call("CLIENT", "SETNAME", "worker");
  const first = worker.call("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "s", ">");
  await td.waitBlocked();
  await Promise.all([assert.rejects(first, /has ended/), td.killConsumer("s", "g", "c")]);
  // It connects again by itself.
  await worker.call("CLIENT", "SETNAME", "worker");
  const second = worker.call("XREAD", "BLOCK", 0, "STREAMS", "s", "$");
  await td.waitBlocked();
  await Promise.all([assert.rejects(second, /has ended/), td.killClient("worker")]);
});

spaced("nothing is executed while the server is stopped", async (td) => {
  const other = new TestDouble(td.url);
  await other.call("PING");
  await td.pause();
  const added = other.call("XADD", "s", "1-1", "f", "v");
  await assert.rejects(td.waitLen("s", 1, { timeout: 50 }), TailraceAssertionError);
  await td.resume();
  assert.equal(await added, "1-1");
});

test("spaces know nothing of each other", async () => {
  const [one, other] = await Promise.all([server.space(), server.space({ nodes: 2 })]);
  await one.call("SET", "k", "v");
  await one.freeze(MINUTE);
  assert.match(String(await other.call("INFO", "cluster")), /cluster_enabled:1/);
  assert.deepEqual([one.nodes, other.nodes.length, other.nodes[0]], [[one.url], 2, other.url]);
  assert.equal(await other.call("DBSIZE"), 0);
  assert.notEqual(await other.now(), MINUTE);
  await Promise.all([one.free(), other.free()]);
  await assert.rejects(one.call("PING"), /connection to Tailrace at .* has ended/);
});

test("slots and nodes of a cluster go where a test wants", async () => {
  const td = await server.space({ nodes: 2 });
  // The slot of `{b}` is with the first of the nodes.
  await td.clusterMigrate("{b}", 1);
  await assert.rejects(td.call("GET", "{b}"), /^ReplyError: ASK 3300 /);
  await td.clusterMigrateCancel("{b}");
  assert.equal(await td.call("GET", "{b}"), null);
  await td.clusterMigrate("{b}", 1);
  await td.clusterMigrateEnd("{b}");
  await assert.rejects(td.clusterMove(3300, 1), /slot 3300 is already with node 1/);
  await td.clusterMove(3300, 0);
  await assert.rejects(td.clusterFailover(1), /no replica of it is up/);
  await td.clusterStale(0);
  await td.clusterStale(0, false);
  await td.clusterKill(1);
  await assert.rejects(td.call("GET", "{b}"), /CLUSTERDOWN/);
  await td.clusterRevive(1);
  assert.equal(await td.call("GET", "{b}"), null);
  await td.free();
});

test("a cluster is held as one", async () => {
  const td = await server.space({ nodes: 3 });
  await td.freeze(MINUTE);
  const nodes = td.nodes.map((url) => new TestDouble(url));
  const workers = [];
  for (const [at, stream] of ["a", "b", "c"].entries()) {
    for (const node of nodes) {
      await node.call("XADD", stream, "*", "f", "v").catch(() => {});
      await node.call("XGROUP", "CREATE", stream, "g", 0).catch(() => {});
      await node.call("XREADGROUP", "GROUP", "g", `w${at}`, "STREAMS", stream, ">").catch(() => {});
      const worker = new TestDouble(node.url);
      workers.push(worker.call("XREADGROUP", "GROUP", "g", `w${at}`, "BLOCK", 0, "STREAMS", stream, ">").catch(String));
    }
  }
  await td.waitBlocked(3);
  const report = await td.report();
  for (const [at, stream] of ["a", "b", "c"].entries()) {
    await td.assertNoLoss(stream, "g");
    await td.assertPending(stream, "g", 1);
    assert.match(report, new RegExp(`${stream} g: 60000-0 with w${at}, idle 0 ms`));
    assert.match(report, new RegExp(`client \\d+ in XREADGROUP GROUP g w${at} BLOCK 0 STREAMS ${stream} >`));
    assert.ok((await td.killConsumer(stream, "g", `w${at}`)) > 0);
  }
  assert.equal((await Promise.all(workers)).filter((said) => /has ended/.test(said)).length, 3);
  await assert.rejects(td.killConsumer("a", "g", "nobody"), ReplyError);
  nodes.forEach((node) => node.close());
  await td.free();
});

test("a client of the user's can carry the verbs", async () => {
  const redis = await createClient({ url: server.url }).connect();
  const ioredis = new Redis(server.url);
  try {
    await carry((words) => redis.sendCommand(words.map(String)));
    await carry(([name, ...words]) => ioredis.call(String(name), ...words));
  } finally {
    redis.destroy();
    ioredis.disconnect();
  }
});

async function carry(send) {
  const td = new TestDouble(server.url, send);
  assert.equal(await td.freeze(MINUTE), MINUTE);
  assert.equal((await td.clock()).mode, "frozen");
  await td.call("DEL", "s");
  await td.call("XADD", "s", "*", "f", "v");
  await assert.rejects(td.assertLen("s", 0), TailraceAssertionError);
  await td.waitLen("s", ">= 1");
  assert.match(await td.report(), /clock +frozen, at 60000 .*XADD s \* f v/s);
}

spaced("a report tells of all that a test can do", async (td) => {
  await td.freeze(MINUTE);
  await td.call("XADD", "jobs", "*", "task", "resize a cat");
  await td.call("XGROUP", "CREATE", "jobs", "workers", 0);
  await td.call("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "jobs", ">");
  const reader = new TestDouble(td.url);
  const waiting = reader.call("XREADGROUP", "GROUP", "workers", "bob", "BLOCK", 5, "STREAMS", "jobs", ">");
  await td.waitBlocked();
  await td.fault("XACK", { before: "loading" });
  await td.call("XACK", "jobs", "workers", "60000-0").catch(() => {});
  const report = await td.report();
  for (const line of [
    /^Tailrace at redis:/,
    /clock +frozen, at 60000 \(1970-01-01T00:01:00.000Z\); the next deadline comes in 5 ms/,
    /blocked +client \d+ in XREADGROUP GROUP workers bob BLOCK 5 STREAMS jobs >/,
    /pending +jobs workers: 60000-0 with alice, idle 0 ms, delivered 1 x/,
    /faults +xack-1 CMD XACK BEFORE LOADING: struck 1 of 1/,
    /calls +1\. at 60000 client \d+: XADD jobs \* task "resize a cat" -> \$7 60000-0/,
    /4\. at 60000 client \d+: XACK jobs workers 60000-0 -> -LOADING .* \[fault xack-1\]/,
  ]) {
    assert.match(report, line);
  }
  await td.advance(5);
  await waiting;
});

spaced("a report comes whatever the test has done to the server", async (td) => {
  await td.freeze(MINUTE);
  await td.call("XADD", "my jobs", "*", "task", "resize");
  await td.call("XGROUP", "CREATE", "my jobs", "workers", 0);
  await td.call("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "my jobs", ">");
  await td.fault("*", { before: "stall", times: "always" });
  await td.pause();
  const report = await td.report();
  assert.match(report, /pending +"my jobs" workers: 60000-0 with alice, idle 0 ms, delivered 1 x/);
  assert.match(report, /faults +\*-1 BEFORE STALL|faults +\*-1 ALWAYS BEFORE STALL: struck 0/);
  await td.resume();
});
