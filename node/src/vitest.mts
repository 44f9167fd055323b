// For vitest: each test has a space of its own, each worker a process.

import { test as base, type TestAPI } from "vitest";

import { attachOrStart, Server, type Space, type SpaceOptions, type TestDouble } from "./index.js";
import { addText } from "./within.js";

/** What tests ask for: `test("...", async ({ td }) => { ... })`. */
export interface TailraceFixtures {
  /** The process, which all tests of a worker share. */
  tailrace: TestDouble;
  /** How its server is to be: `test.extend({ spaceOptions: { nodes: 3 } })`. */
  spaceOptions: SpaceOptions;
  /** A server that only this test knows. */
  td: Space;
}

/** The `test` of vitest, with `td`. `test.extend` adds more. */
export const test: TestAPI<TailraceFixtures> = base.extend<TailraceFixtures>({
  tailrace: [
    async ({}, use) => {
      const server = await attachOrStart();
      await use(server);
      await (server instanceof Server ? server.stop() : server.close());
    },
    { scope: "worker" },
  ],
  spaceOptions: {},
  td: async ({ tailrace, spaceOptions, task }, use) => {
    const space = await tailrace.space(spaceOptions);
    await use(space);
    const errors = task.result?.errors ?? [];
    if (errors.length > 0) {
      const report = await space.report();
      errors.slice(-1).forEach((error) => addText(error, report));
    }
    await space.free();
  },
});

export const it: typeof test = test;
