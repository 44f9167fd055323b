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
  const [kept] = await td.snapshots();
  assert.deepEqual([kept.name, kept.clock, kept.keys], ["begun", "frozen 60000", 1]);
  await td.drop("begun");
  assert.deepEqual(await td.snapshots(), []);
});

test("spaces begin with what was kept, whatever they are", async () => {
  const orders = await server.keep("orders", async (td) => {
    await td.freeze(60_000);
    await td.load("XADD {a} * f v\nXADD {b} * f v\nXGROUP CREATE {a} g 0");
  });
  const [one, three] = await Promise.all([server.space({ from: orders }), server.space({ from: orders, nodes: 3 })]);
  assert.equal(await one.state(), await three.state());
  assert.equal(await three.now(), 60_000);
  const third = new TestDouble(three.nodes[2]);
  assert.equal(await third.call("XLEN", "{a}"), 1);
  third.close();
  await assert.rejects(three.assertAtLeastOnce("{a}", "g"), /60000-0: .*never delivered/);
  await one.call("DEL", "{a}");
  await one.advance(5);
  await one.reset();
  assert.equal(await one.state(), await three.state());
  await assert.rejects(one.assertAtLeastOnce("{a}", "g"), /never delivered/);
  // A cluster's snapshot, asked for where it is.
  const spread = await three.save("spread");
  const again = await server.space({ from: spread });
  assert.equal(await again.state(), await one.state());
  const named = await three.space({ from: "spread", nodes: 2 });
  assert.equal(named.nodes.length, 2);
  await Promise.all([one, three, again, named].map((td) => td.free()));
  await assert.rejects(server.keep("wrong", "NOPE"), /NOPE/);
  await assert.rejects(server.space({ from: "wrong" }), /there is no snapshot 'wrong'/);
});

test("data of a cluster are those of all its nodes", () =>
  within(
    server,
    async (td) => {
      await td.freeze(60_000);
      const nodes = td.nodes.map((url) => new TestDouble(url));
      const keys = ["{b}", "{c}", "{a}"];
      await Promise.all(nodes.map((node, at) => node.call("XADD", keys[at], "1-1", "f", "v")));
      const state = await td.state();
      assert.equal(state.match(/ entry 1-1 f v$/gm).length, 3, state);
      assert.equal(state.match(/^clock/gm).length, 1);
      assert.equal(await td.load("SET {a}s 1\nSET {b}s 2"), 2);
      await assert.rejects(td.load("SET {a}s 3\nLPUSH {b}s 4"), /line 2, .*nothing was changed/);
      assert.match(await td.state("{a}s", "{b}s"), /^db0 \{a\}s string 1\ndb0 \{b\}s string 2\n$/);
      await td.save("begun");
      await nodes[2].call("XGROUP", "CREATE", "{a}", "g", 0);
      assert.match(await td.diff("begun"), /^\+ db0 \{a\} group g /m);
      await nodes[2].call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "{a}", ">");
      assert.equal((await td.ledger("{a}", "g")).pending, 1);
      assert.match((await td.ledgerHistory("{a}", "g", "1-1")).join(), /delivered to c/);
      assert.equal(await td.worked("{a}", "g", "1-1", "9-9"), 1);
      assert.equal(await td.countCalls({ command: "XADD", node: 1 }), 1);
      nodes.forEach((node) => node.close());
    },
    { nodes: 3 },
  ));

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
