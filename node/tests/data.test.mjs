// All data at once: kept, brought back, compared, lost.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { start, TestDouble, within } from "tailrace";

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

spaced("a test goes back to what was kept", async (td) => {
  await td.freeze(60_000);
  assert.equal(await td.load("XADD jobs * task resize\nXGROUP CREATE jobs workers 0\n"), 2);
  await td.save("begun");
  await td.call("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "jobs", ">");
  await td.advance(1_000);
  const state = await td.state("jobs");
  assert.match(state, /alice/);
  assert.match(await td.diff("begun"), /^--- begun\n\+\+\+ NOW\n.*^\+.*alice/ms);
  await td.restore("begun");
  assert.equal(await td.diff("begun"), "");
  assert.equal(await td.now(), 60_000);
  assert.notEqual(await td.state("jobs"), state);
});

spaced("what is wrong in a fixture changes nothing", async (td) => {
  await assert.rejects(td.load("SET k v\nNOPE"), /line 2/);
  assert.equal(await td.call("EXISTS", "k"), 0);
});

spaced("a reset makes the server new", async (td) => {
  await td.call("SET", "k", "v");
  await td.fault("GET", { before: "nil" });
  await td.reset();
  assert.equal(await td.call("DBSIZE"), 0);
  assert.deepEqual(await td.td("FAULT", "LIST"), []);
  await td.call("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM");
  await td.assertAtLeastOnce("s", "g");
});

spaced("a server restarts as its clients see it", async (td) => {
  await td.freeze(60_000);
  await td.call("SET", "k", "v");
  const other = new TestDouble(td.url);
  await other.call("PING");
  await td.restart({ data: "lose", down: 100, loading: 100 });
  await assert.rejects(other.call("PING"), /has ended/);
  await td.advance(100);
  await assert.rejects(other.call("GET", "k"), /LOADING/);
  await td.advance(100);
  assert.equal(await other.call("GET", "k"), null);
});
