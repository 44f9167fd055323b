// For jest: each test has a space of its own, each worker a process.

import type { Fill, Snapshot, Space, SpaceOptions, TestDouble } from "./double";
import { attachOrStart, Server } from "./server";
import { within } from "./within";

/** What jest calls with a space: `test("...", async ({ td }) => { ... })`. */
export type TailraceTest = (context: { td: Space }) => unknown;

/** A `test` of jest whose function is given a space. */
export interface TestWithSpace {
  (name: string, run: TailraceTest, timeout?: number): void;
  only(name: string, run: TailraceTest, timeout?: number): void;
  skip(name: string, run: TailraceTest, timeout?: number): void;
}

/** How spaces are to be, or what says so when a test begins. */
export type SpaceWish = SpaceOptions | (() => SpaceOptions);

/** The `test` of jest, with `td`. If a test fails, its error has the report of the space. */
export const test: TestWithSpace = withSpace({});

export const it = test;

/** Likewise, with a space that is to be like this. */
export function withSpace(wish: SpaceWish): TestWithSpace {
  return Object.assign(declare("all", wish), {
    only: declare("only", wish),
    skip: declare("skip", wish),
  });
}

/**
 * Keeps data for the tests of a file or of a `describe` to begin with, once for all of them:
 * `withSpace(() => ({ from: orders.snapshot }))`.
 */
export function useSnapshot(name: string, fill: Fill): { readonly snapshot: Snapshot } {
  const { beforeAll } = jest();
  let kept: Snapshot | undefined;
  beforeAll(async () => {
    kept = await (await server()).keep(name, fill);
  });
  return {
    get snapshot() {
      if (kept === undefined) {
        throw new Error(`the snapshot ${name} is there once the tests begin`);
      }
      return kept;
    },
  };
}

/**
 * Gives each test of a file or of a `describe` a space, `space.td`, for hooks that need it, too. With the environment
 * `tailrace/jest-environment` the error of a test that fails has the report of it.
 */
export function useTailrace(wish: SpaceWish = {}): { readonly td: Space } {
  const { beforeEach, afterEach } = jest();
  const open = spaces();
  let current: Space | undefined;
  beforeEach(async () => {
    current = await (await server()).space(wished(wish));
    open.add(current);
  });
  afterEach(async () => {
    const space = current;
    current = undefined;
    if (space !== undefined) {
      open.delete(space);
      await space.free();
    }
  });
  return {
    get td() {
      if (current === undefined) {
        throw new Error("there is a space only while a test or one of its hooks runs");
      }
      return current;
    },
  };
}

/** The spaces of the tests that run, for the environment to find. */
export const SPACES = Symbol.for("tailrace.spaces");

function spaces(): Set<Space> {
  const world = globalThis as { [SPACES]?: Set<Space> };
  return (world[SPACES] ??= new Set());
}

function wished(wish: SpaceWish): SpaceOptions {
  return typeof wish === "function" ? wish() : wish;
}

function declare(kind: "all" | "only" | "skip", wish: SpaceWish) {
  return (name: string, run: TailraceTest, timeout?: number): void => {
    const { test } = jest();
    const base = kind === "all" ? test : test[kind];
    base(name, async () => within(await server(), (td) => run({ td }), wished(wish)), timeout);
  };
}

let started: Promise<TestDouble> | undefined;

/** The server of this file; the environment may have one for all files of the worker. */
function server(): Promise<TestDouble> {
  started ??= attachOrStart();
  return started;
}

/** Jest's own functions, also where they are no globals. */
function jest(): JestGlobals {
  return require("@jest/globals") as JestGlobals;
}

interface JestGlobals {
  test: JestTest & { only: JestTest; skip: JestTest };
  beforeAll(hook: () => Promise<void>): void;
  beforeEach(hook: () => Promise<void>): void;
  afterEach(hook: () => Promise<void>): void;
  afterAll(hook: () => Promise<void>): void;
}

type JestTest = (name: string, run: () => Promise<unknown>, timeout?: number) => void;

try {
  jest().afterAll(async () => {
    const ending = await started;
    await (ending instanceof Server ? ending.stop() : ending?.close());
  });
} catch (cause) {
  throw new Error("tailrace/jest is for the files of tests that jest runs", { cause });
}
