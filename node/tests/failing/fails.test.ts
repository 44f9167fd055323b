// Fails on purpose: `reports.test.mjs` reads what vitest says of it.

import { test } from "tailrace/vitest";

test("an entry is forgotten", async ({ td }) => {
  await td.freeze(60_000);
  await td.call("XADD", "jobs", "*", "task", "resize");
  await td.call("XGROUP", "CREATE", "jobs", "workers", 0);
  await td.call("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "jobs", ">");
  await td.assertDrained("jobs", "workers");
});
