// What runners say of a test that fails.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const folder = join(dirname(fileURLToPath(import.meta.url)), "failing");

const REPORT = [
  /TailraceAssertionError: jobs workers is not drained: 0 to read, 1 pending, 1 of them with alice/,
  /Tailrace at redis:\/\/127\.0\.0\.1:\d+/,
  /clock +frozen, at 60000/,
  /pending +jobs workers: 60000-0 with alice, idle 0 ms, delivered 1 x/,
  /3\. at 60000 client 1: XREADGROUP GROUP workers alice STREAMS jobs > ->/,
];

/** Runs the command of a package in the folder of suites that fail. */
function fail(name, script, ...words) {
  const program = join(dirname(require.resolve(`${name}/package.json`)), script);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const done = spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...env, NO_COLOR: "1", CI: "1" },
    encoding: "utf8",
  });
  assert.equal(done.status, 1, done.stdout + done.stderr);
  return done.stdout + done.stderr;
}

test("vitest shows the report of the space", () => {
  const said = fail("vitest", "vitest.mjs", "run");
  REPORT.forEach((line) => assert.match(said, line));
});

test("jest shows the report of the space, with both ways to have one", () => {
  const said = fail("jest", "bin/jest.js");
  // Each failure is shown where it happens, and some again in the end.
  const [first, second] = said.split(/● with hooks › an entry is forgotten, too/);
  REPORT.forEach((line) => assert.match(first, line));
  REPORT.forEach((line) => assert.match(second, line));
  assert.match(said, /TAILRACE_URL is redis:\/\/127\.0\.0\.1:\d+/);
});
