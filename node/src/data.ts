// What happened, and all data at once.

import { Conditions } from "./conditions";
import { toRecord, type Reply } from "./resp";
import { queryWords, type CallQuery } from "./words";

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

/** What is known of what was kept under a name. */
export interface Kept {
  name: string;
  /** How the clock went: `frozen 60000`. */
  clock: string;
  keys: number;
  bytes: number;
}

/** What became of the entries of a group. */
export interface LedgerSums {
  added: number;
  "delivered-once": number;
  redelivered: number;
  acked: number;
  "acked-undelivered": number;
  unacked: number;
  pending: number;
  "never-delivered": number;
  lost: number;
  "most-deliveries": number;
  forgotten: number;
  consumers: Record<string, { deliveries: number; acks: number; pending: number }>;
}

/** A server that tells what there is and what happened, of all nodes if it is a cluster. */
export class Data extends Conditions {
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

  // What the ledger knows.

  /** Begins, anew, to note what becomes of the entries of all streams or of one. */
  async startLedger(stream?: string): Promise<void> {
    await this.td("LEDGER", "ON", ...(stream === undefined ? [] : [stream]));
  }

  /** Ends that. */
  async stopLedger(stream?: string): Promise<void> {
    await this.td("LEDGER", "OFF", ...(stream === undefined ? [] : [stream]));
  }

  /** Lets there be a ledger, unless there is one already. */
  async beginLedger(): Promise<void> {
    if (toRecord(await this.td("LEDGER")).mode === "off") {
      await this.startLedger();
    }
  }

  /** What became of the entries of a group, in sums. */
  async ledger(stream: string, group: string): Promise<LedgerSums> {
    const sums = toRecord(await this.td("LEDGER", stream, group));
    const consumers = Object.entries(toRecord(sums.consumers)).map(([name, told]) => [name, toRecord(told)]);
    return { ...sums, consumers: Object.fromEntries(consumers) } as LedgerSums;
  }

  /** All that is known of an entry: a line for each life of the stream that had its ID. */
  async ledgerHistory(stream: string, group: string, id: string): Promise<string[]> {
    return ((await this.td("LEDGER", stream, group, id)) as Reply[]).map(String);
  }

  /** Notes that the work of entries is done, and resolves with how many of them the group knows. */
  async worked(stream: string, group: string, ...ids: string[]): Promise<number> {
    return (await this.td("LEDGER", "WORKED", stream, group, ...ids)) as number;
  }

  // All data.

  /** All data, or those of some keys, as lines for golden files. */
  async state(...keys: string[]): Promise<string> {
    return String(await this.td("STATE", ...keys));
  }

  /** What is kept to go back to. */
  async snapshots(): Promise<Kept[]> {
    const kept = (await this.td("SNAPSHOT", "LIST")) as Reply[];
    return kept.map((one) => toRecord(one) as unknown as Kept);
  }

  /** The lines in which what was kept under a name differs from what is there now, or was kept under another. */
  async diff(one: string, other = "NOW"): Promise<string> {
    return String(await this.td("DIFF", one, other));
  }

  /** Executes commands, one in each line, all or none. */
  async load(lines: string): Promise<number> {
    return (await this.td("FIXTURE", "LOAD", lines)) as number;
  }
}
