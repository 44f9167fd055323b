// A process of Tailrace: started, found, ended.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { findBinary } from "./binary";
import { TestDouble } from "./double";

/** How a server is to be started. */
export interface StartOptions {
  /** The path of the binary, if it is not to be looked for. */
  binary?: string;
  /** A free one if it is not said. */
  port?: number;
  /** A cluster of so many nodes, and so many replicas of each. */
  nodes?: number;
  replicas?: number;
  /** How the clock goes at first: `"frozen"`, `"frozen:1764374400000"`, `"auto:2"`. */
  clock?: string;
  /** What chance starts from. */
  seed?: number;
  /** More of what `tailrace --help` tells of. */
  args?: readonly string[];
  /** How long it may take until it listens, in milliseconds. */
  timeout?: number;
}

/** A process of Tailrace that this one has started. It ends with this process at the latest. */
export class Server extends TestDouble {
  readonly pid: number;
  /** Where each node listens. */
  readonly nodes: readonly string[];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(child: ChildProcess, ended: Promise<unknown>, { url, pid, nodes }: Announcement) {
    super(url);
    this.pid = pid;
    this.nodes = nodes;
    this.#process = child;
    this.#ended = ended;
  }

  /** Ends it, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.close();
    this.#process.ref();
    this.#process.kill("SIGTERM");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a server, and resolves when it listens. */
export async function start(options: StartOptions = {}): Promise<Server> {
  const binary = options.binary ?? findBinary();
  const child = spawn(binary, startArguments(options), { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  ended.catch(() => {});
  const announcement = await hear(child, ended, options.timeout ?? 10_000);
  // Nobody has to stop it for this process to end.
  child.unref();
  release(child.stdout);
  release(child.stderr);
  return new Server(child, ended, announcement);
}

/** The server that `TAILRACE_URL` names, if it does, else one that is started. */
export async function attachOrStart(options: StartOptions = {}): Promise<TestDouble | Server> {
  const url = process.env.TAILRACE_URL;
  return url ? new TestDouble(url) : start(options);
}

/** What the first line says. */
interface Announcement {
  url: string;
  pid: number;
  nodes: string[];
}

function startArguments(options: StartOptions): string[] {
  const { port = 0, nodes, replicas, clock, seed, args = [] } = options;
  const named = { port, nodes, replicas, clock, seed };
  const words = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return ["--testdouble", "--exit-with-parent", "--loglevel", "warning", ...words, ...args];
}

/** Reads the first line; if there is none, the error has what the process said instead. */
async function hear(child: ChildProcess, ended: Promise<unknown>, timeout: number): Promise<Announcement> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) {
    throw new TypeError("the process has no pipes");
  }
  let complaint = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_MAX);
  });
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), timeout);
  const line = once(createInterface(stdout), "line", { signal: patience.signal });
  try {
    const first = await Promise.race([line, ended.then(() => undefined)]);
    if (first === undefined) {
      throw new Error("it has ended");
    }
    return JSON.parse(String(first[0])) as Announcement;
  } catch (error) {
    child.kill("SIGKILL");
    const why = patience.signal.aborted ? `it did not listen within ${timeout} ms` : (error as Error).message;
    throw new Error(`Tailrace did not start: ${why}; ${complaint.trim() || "it said nothing"}`);
  } finally {
    clearTimeout(timer);
    line.catch(() => {});
  }
}

/** Goes on reading, but not for the sake of that alone. */
function release(pipe: Readable | null): void {
  pipe?.resume();
  (pipe as unknown as { unref?(): void } | null)?.unref?.();
}

/** Enough for what a server says that cannot start. */
const COMPLAINT_MAX = 4_096;
