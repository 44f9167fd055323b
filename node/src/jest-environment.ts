// The environment of jest that has one server for all files of a worker, and adds reports to errors.

import { TestEnvironment as NodeEnvironment } from "jest-environment-node";

import type { TestDouble } from "./double";
import { start, type Server } from "./server";
import { addReport } from "./within";

// What a mixin takes: TypeScript asks for these very arguments.
type Constructor<T> = abstract new (...args: any[]) => T;

/** What is asked of an environment. */
interface Environment {
  global: typeof globalThis;
  setup(): Promise<void>;
}

/** Adds to another environment what the one for Node has here. */
export function withTailrace<Base extends Constructor<Environment>>(base: Base): Base {
  abstract class TailraceEnvironment extends base {
    override async setup(): Promise<void> {
      await super.setup();
      const { env } = this.global.process;
      env.TAILRACE_URL ??= (await server()).url;
    }

    async handleTestEvent(event: { name: string; error?: unknown }): Promise<void> {
      if (event.name !== "test_fn_failure") {
        return;
      }
      const world = this.global as { [SPACES]?: Set<TestDouble> };
      for (const space of world[SPACES] ?? []) {
        await addReport(event.error, space);
      }
    }
  }
  return TailraceEnvironment;
}

/** Jest loads this file once in each worker, outside of the tests. */
let started: Promise<Server> | undefined;

function server(): Promise<Server> {
  started ??= start();
  return started;
}

const SPACES = Symbol.for("tailrace.spaces");

export const TestEnvironment = withTailrace(NodeEnvironment);
export default TestEnvironment;
