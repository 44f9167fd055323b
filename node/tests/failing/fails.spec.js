// Fails on purpose: `reports.test.mjs` reads what jest says of it.

const { test: testWithSpace, useTailrace } = require("tailrace/jest");

/** @param {import("tailrace").TestDouble} td */
async function forget(td) {
  await td.freeze(60_000);
  await td.call("XADD", "jobs", "*", "task", "resize");
  await td.call("XGROUP", "CREATE", "jobs", "workers", 0);
  await td.call("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "jobs", ">");
  await td.assertDrained("jobs", "workers");
}

testWithSpace("an entry is forgotten", ({ td }) => forget(td));

describe("with hooks", () => {
  const space = useTailrace();

  test("an entry is forgotten, too", () => forget(space.td));

  test("the process is that of the worker", () => {
    throw new Error(`TAILRACE_URL is ${process.env.TAILRACE_URL}`);
  });
});
