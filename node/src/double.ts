// The verbs of a test: what TESTDOUBLE does, on a server or on a space of one.

import { Conditions, PATIENCE_MS } from "./conditions";
import { report } from "./report";
import { toRecord, type Reply } from "./resp";
import { faultWords, queryWords, type CallQuery, type FaultOptions } from "./words";

/** How the clock goes. Times are milliseconds since 1970. */
export interface Clock {
  mode: string;
  now: number;
  /** When something is due next, if anything is. */
  next: number | null;
  timers: number;
  /** How many clients wait. */
  blocked: number;
}

/** A command that a client sent, and what it heard. */
export interface Call {
  number: number;
  time: number;
  client: number;
  name: string;
  call: string[];
  /** As it stood on the wire. */
  reply: string;
  /** The fault that struck. */
  fault: string | null;
}

/** A fault that was put in. */
export class Fault {
  constructor(
    readonly name: string,
    private readonly td: TestDouble,
  ) {}

  /** How often it has struck. */
  async hits(): Promise<number> {
    return (await this.td.td("FAULT", "HITS", this.name)) as number;
  }

  /** Lets go what it keeps back, or the first so many; how many that were. */
  async release(count?: number): Promise<number> {
    return (await this.td.td("RELEASE", this.name, ...(count === undefined ? [] : [count]))) as number;
  }

  /** Takes it out. What it keeps back is let go. */
  async remove(): Promise<void> {
    await this.td.td("FAULT", "DEL", this.name);
  }
}

/** A server in the hands of a test. */
export class TestDouble extends Conditions {
  #faults = 0;

  // The clock. What moves it resolves with the time it shows then, once everything that became due has happened.

  async clock(): Promise<Clock> {
    return toRecord(await this.td("CLOCK")) as unknown as Clock;
  }

  async now(): Promise<number> {
    return (await this.clock()).now;
  }

  /** Stops the clock, at that time or where it is. */
  async freeze(at?: number | Date): Promise<number> {
    return this.#clock("FREEZE", ...(at === undefined ? [] : [Number(at)]));
  }

  /** Moves the clock by so many milliseconds. */
  async advance(ms: number): Promise<number> {
    return this.#clock("ADVANCE", ms);
  }

  /** Moves the clock to a time. */
  async advanceTo(at: number | Date): Promise<number> {
    return this.#clock("TO", Number(at));
  }

  /** Moves the clock to where something is due, so many times. */
  async nextDeadline(count = 1): Promise<number> {
    return this.#clock("NEXT", count);
  }

  /** Moves the clock from deadline to deadline, each time once so many clients wait again. */
  async run(ms: number, settle?: { clients: number; timeout?: number }): Promise<number> {
    return this.#clock("RUN", ms, ...(settle ? ["SETTLE", settle.clients, settle.timeout ?? PATIENCE_MS] : []));
  }

  /** Stops the clock, and moves it to the next deadline whenever so many clients wait. */
  async auto(clients: number): Promise<number> {
    return this.#clock("AUTO", clients);
  }

  /** Lets the clock run so many times as fast as the host's. */
  async scale(factor: number): Promise<number> {
    return this.#clock("SCALE", factor);
  }

  /** Lets the clock run with the host's. */
  async real(): Promise<number> {
    return this.#clock("REAL");
  }

  /** Turns the wall clock alone, backwards if negative. */
  async skew(ms: number): Promise<number> {
    return this.#clock("SKEW", ms);
  }

  // Faults and calls.

  /** Puts a fault in, for a command, a category such as `@write`, or all with `*`. */
  async fault(command: string, options: FaultOptions): Promise<Fault> {
    this.#faults += 1;
    const name = options.name ?? `${command.toLowerCase()}-${this.#faults}`;
    await this.td("FAULT", "ADD", name, ...faultWords(command, options));
    return new Fault(name, this);
  }

  /** Takes all faults out. */
  async clearFaults(): Promise<void> {
    await this.td("FAULT", "CLEAR");
  }

  /** Lets go what a fault keeps back. */
  async release(fault: string, count?: number): Promise<number> {
    return new Fault(fault, this).release(count);
  }

  /** What clients asked, the oldest first. */
  async calls(query: CallQuery = {}): Promise<Call[]> {
    const found = (await this.td("CALLS", ...queryWords(query))) as Reply[];
    return found.map((call) => toRecord(call) as unknown as Call);
  }

  async countCalls(query: CallQuery = {}): Promise<number> {
    return (await this.td("CALLS", "COUNT", ...queryWords(query))) as number;
  }

  async clearCalls(): Promise<void> {
    await this.td("CALLS", "CLEAR");
  }

  /** Commands that clients sent and that are not known, with how often they did. */
  async unsupported(): Promise<Record<string, number>> {
    return toRecord(await this.td("CALLS", "UNSUPPORTED")) as Record<string, number>;
  }

  // A cluster. Nodes go by their number, from 0, or their id; slots by their number or a key.

  /** Gives a slot with its keys to a node, at once for everybody. */
  async clusterMove(slot: number | string, node: number | string): Promise<void> {
    await this.td("CLUSTER", "MOVE", slot, node);
  }

  /** Lets a slot be on its way to a node: clients meet ASK and TRYAGAIN. */
  async clusterMigrate(slot: number | string, node: number | string): Promise<void> {
    await this.td("CLUSTER", "MIGRATE", slot, node);
  }

  /** Lets a slot that is on its way arrive, with all its keys. */
  async clusterMigrateEnd(slot: number | string): Promise<void> {
    await this.td("CLUSTER", "MIGRATE", slot, "END");
  }

  /** Lets a slot that is on its way stay, with all its keys. */
  async clusterMigrateCancel(slot: number | string): Promise<void> {
    await this.td("CLUSTER", "MIGRATE", slot, "CANCEL");
  }

  /** Lets a replica take its primary's place; of a primary, its first replica does. */
  async clusterFailover(node: number | string): Promise<void> {
    await this.td("CLUSTER", "FAILOVER", node);
  }

  /** Takes a node down: others show it as failed, until `clusterRevive`. */
  async clusterKill(node: number | string): Promise<void> {
    await this.td("CLUSTER", "KILL", node);
  }

  /** Brings a node back, with its data. */
  async clusterRevive(node: number | string): Promise<void> {
    await this.td("CLUSTER", "REVIVE", node);
  }

  /** Lets a node go on with what it knows of the cluster, or learn what is the case. */
  async clusterStale(node: number | string, isStale = true): Promise<void> {
    await this.td("CLUSTER", "STALE", node, ...(isStale ? [] : ["OFF"]));
  }

  // Servers beside this one.

  /**
   * A server of its own in the same process: port, data, clock, faults, calls and
   * ledger are nobody else's.
   */
  async space(options: SpaceOptions = {}): Promise<Space> {
    const { nodes } = options;
    const url = await this.td(
      "SPACE",
      "NEW",
      ...(nodes === undefined ? [] : ["NODES", nodes]),
      // What a test that was ended leaves behind ends with its connection.
      ...(this.hasConnection ? ["OWNED"] : []),
    );
    const space = new Space(nodes === undefined ? [String(url)] : await this.#nodesOf(url), this);
    await space.startLedger();
    return space;
  }

  // Ends of all kinds.

  /** Closes the connections of a client, by its name or number, and resolves with how many. */
  async killClient(client: string | number): Promise<number> {
    return (await this.td("KILL", "CLIENT", client)) as number;
  }

  /** Closes the connections that read as a consumer. What it has pending stays so. */
  async killConsumer(stream: string, group: string, consumer: string): Promise<number> {
    return (await this.td("KILL", "CONSUMER", stream, group, consumer)) as number;
  }

  /** Stops the whole server but for this: nothing is executed and nothing becomes due. */
  async pause(): Promise<void> {
    await this.td("PAUSE");
  }

  /** Lets it go on. What clients had sent has happened when it resolves. */
  async resume(): Promise<void> {
    await this.td("RESUME");
  }

  /** Restarts the server as its clients see it: down for so long, and loading for so long, by the test's clock. */
  async restart({ data = "keep", down, loading }: RestartOptions = {}): Promise<void> {
    await this.td(
      "RESTART",
      data.toUpperCase(),
      ...(down === undefined ? [] : ["DOWN", down]),
      ...(loading === undefined ? [] : ["LOADING", loading]),
    );
  }

  /** Makes data, clock, faults, calls and settings what they were at the start. */
  async reset(): Promise<void> {
    await this.td("RESET");
  }

  // All data at once.

  /** Keeps all data and the clock under a name. */
  async save(name: string): Promise<void> {
    await this.td("SNAPSHOT", "SAVE", name);
  }

  /** Goes back to what was kept under a name, as often as one likes. */
  async restore(name: string): Promise<void> {
    await this.td("SNAPSHOT", "RESTORE", name);
  }

  /** All data, or those of some keys, as lines for golden files. */
  async state(...keys: string[]): Promise<string> {
    return String(await this.td("STATE", ...keys));
  }

  /** The lines in which what was kept under a name differs from what is there now, or was kept under another. */
  async diff(one: string, other = "NOW"): Promise<string> {
    return String(await this.td("DIFF", one, other));
  }

  /** Executes commands, one in each line, all or none. */
  async load(lines: string): Promise<number> {
    return (await this.td("FIXTURE", "LOAD", lines)) as number;
  }

  /** What there is to know when a test has failed: the clock, who waits, what is pending, faults and the last calls. */
  async report(): Promise<string> {
    return report(this);
  }

  /** Where the nodes of a space listen. */
  async #nodesOf(url: Reply): Promise<[string, ...string[]]> {
    const spaces = ((await this.td("SPACE", "LIST")) as Reply[]).map(toRecord);
    return spaces.find((space) => space.url === url)?.nodes as [string, ...string[]];
  }

  async #clock(...words: (string | number)[]): Promise<number> {
    return (await this.td("CLOCK", ...words)) as number;
  }
}

/** How a server is restarted. */
export interface RestartOptions {
  /** What becomes of the data. */
  data?: "keep" | "lose" | "lose-groups";
  /** How long connections are closed at once, and how long commands hear that data are loaded. */
  down?: number;
  loading?: number;
}

/** How a space is to be. */
export interface SpaceOptions {
  /** A cluster of so many nodes. */
  nodes?: number;
}

/** A server of its own, within the process of another. */
export class Space extends TestDouble {
  constructor(
    nodes: readonly [string, ...string[]],
    private readonly root: TestDouble,
  ) {
    super(nodes[0], undefined, nodes);
  }

  /** As of any server, but that it goes on to keep a ledger. */
  override async reset(): Promise<void> {
    await super.reset();
    await this.startLedger();
  }

  /** Ends it, and the connections to it. */
  async free(): Promise<void> {
    this.close();
    await this.root.td("SPACE", "FREE", this.url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.free();
  }
}
