// The verbs of a test: what TESTDOUBLE does, on a server or on a space of one.

import { PATIENCE_MS } from "./conditions";
import { Data } from "./data";
import { report } from "./report";
import { toRecord, type Reply } from "./resp";
import { faultWords, type FaultOptions } from "./words";

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
export class TestDouble extends Data {
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

  /** Stops the clock, and lets each command of a client move it by so many milliseconds when it comes. */
  async tick(ms: number): Promise<number> {
    return this.#clock("TICK", ms);
  }

  /** Turns the wall clock alone, backwards if negative. */
  async skew(ms: number): Promise<number> {
    return this.#clock("SKEW", ms);
  }

  // Faults.

  /** Puts a fault in, for a command, a category such as `@write`, or all with `*`. */
  async fault(command: string, options: FaultOptions): Promise<Fault> {
    this.#faults += 1;
    const name = options.name ?? `${command.toLowerCase()}-${this.#faults}`;
    await this.td("FAULT", "ADD", name, ...faultWords(command, options));
    return new Fault(name, this);
  }

  /** Puts in faults, one in each line as `TD FAULT ADD` takes them, and resolves with how many. */
  async loadFaults(lines: string): Promise<number> {
    return (await this.td("FAULT", "LOAD", lines)) as number;
  }

  /** Takes all faults out. */
  async clearFaults(): Promise<void> {
    await this.td("FAULT", "CLEAR");
  }

  /** Lets go what a fault keeps back. */
  async release(fault: string, count?: number): Promise<number> {
    return new Fault(fault, this).release(count);
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

  // Servers beside this one, and what they begin with.

  /**
   * A server of its own in the same process: port, data, clock, faults, calls and
   * ledger are nobody else's.
   */
  async space(options: SpaceOptions = {}): Promise<Space> {
    const { nodes, from } = options;
    const asked = from instanceof Snapshot ? from.td : this;
    const url = await asked.td(
      "SPACE",
      "NEW",
      ...(nodes === undefined ? [] : ["NODES", nodes]),
      ...(from === undefined ? [] : ["FROM", nameOf(from)]),
      // What a test that was ended leaves behind ends with its connection.
      ...(asked.hasConnection ? ["OWNED"] : []),
    );
    const isServer = nodes === undefined && this.nodes.length === 1;
    const space = new Space(isServer ? [String(url)] : await this.#nodesOf(url), this.root);
    await (from === undefined ? space.startLedger() : space.beginLedger());
    return space;
  }

  /**
   * Keeps what `fill` brings, lines of commands or what is done to a space, under a name. Spaces of any number of nodes
   * can begin with it: `space({ from })`.
   */
  async keep(name: string, fill: Fill, options: SpaceOptions = {}): Promise<Snapshot> {
    const space = await this.space(options);
    try {
      await (typeof fill === "string" ? space.load(fill) : fill(space));
      return await space.save(name);
    } catch (error) {
      await space.free();
      throw error;
    }
  }

  /** Keeps all data and the clock under a name. */
  async save(name: string): Promise<Snapshot> {
    await this.td("SNAPSHOT", "SAVE", name);
    return new Snapshot(name, this);
  }

  /** Goes back to what was kept, as often as one likes. */
  async restore(snapshot: string | Snapshot): Promise<void> {
    await this.td("SNAPSHOT", "RESTORE", nameOf(snapshot));
  }

  /** Forgets what was kept. */
  async drop(snapshot: string | Snapshot): Promise<void> {
    await this.td("SNAPSHOT", "DROP", nameOf(snapshot));
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

  /** What there is to know when a test has failed: the clock, who waits, what is pending, faults and the last calls. */
  async report(): Promise<string> {
    return report(this);
  }

  /** What its spaces are freed by: they may end later than it does if it is one itself. */
  protected get root(): TestDouble {
    return this;
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
  /** It begins with this data, ledger and clock: what `keep` or `save` made, or what this server kept under a name. */
  from?: Snapshot | string;
}

/** What brings data: lines of commands, or what is done to a space. */
export type Fill = string | ((td: Space) => unknown);

/** All data and the clock of a server, as they were. */
export class Snapshot {
  constructor(
    readonly name: string,
    /** What has it. */
    readonly td: TestDouble,
  ) {}
}

function nameOf(snapshot: string | Snapshot): string {
  return typeof snapshot === "string" ? snapshot : snapshot.name;
}

/** A server of its own, within the process of another. */
export class Space extends TestDouble {
  constructor(
    nodes: readonly [string, ...string[]],
    private readonly process: TestDouble,
  ) {
    super(nodes[0], undefined, nodes);
  }

  protected override get root(): TestDouble {
    return this.process;
  }

  /** As of any server, but that it goes on to keep a ledger. */
  override async reset(): Promise<void> {
    await super.reset();
    await this.beginLedger();
  }

  /** Ends it, and the connections to it. */
  async free(): Promise<void> {
    this.close();
    await this.process.td("SPACE", "FREE", this.url).catch((error: Error) => {
      // It ends with the snapshot's space that it began with.
      if (!error.message.includes("there is no space")) {
        throw error;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.free();
  }
}
