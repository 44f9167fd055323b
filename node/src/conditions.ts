// Waiting for something, and insisting on it.

import { Caller } from "./caller";
import { ReplyError } from "./resp";
import { countWords, filterWords, queryWords, type CallQuery, type Count } from "./words";

/** How long a test waits, in milliseconds of the host. */
export interface Patience {
  timeout?: number;
}

/** Which readers wait. */
export interface Readers {
  key?: string;
  group?: string;
  consumer?: string;
}

/** What is asked of work besides that entries were delivered and acknowledged. */
export interface Promised {
  /** That `worked` said so before they were acknowledged. */
  worked?: boolean;
}

/** Something that a test insisted on is not so. The message says what is the case instead. */
export class TailraceAssertionError extends Error {
  override readonly name = "TailraceAssertionError";
}

/** A server of which something can be expected. */
export class Conditions extends Caller {
  /** Waits until a condition of `TD WAIT` holds: `wait(["LEN", "jobs", ">=", 3])`. */
  async wait(condition: (string | number)[], { timeout = PATIENCE_MS }: Patience = {}): Promise<void> {
    const reply = await this.askAside(["TESTDOUBLE", "WAIT", ...condition, "TIMEOUT", timeout]);
    if (reply instanceof ReplyError) {
      throw new TailraceAssertionError(sentence(reply));
    }
  }

  /** Insists that a condition of `TD ASSERT` holds. */
  async assert(...condition: (string | number)[]): Promise<void> {
    const reply = await this.ask(["TESTDOUBLE", "ASSERT", ...condition]);
    if (reply instanceof ReplyError) {
      throw new TailraceAssertionError(sentence(reply));
    }
  }

  /** Waits until so many clients wait for something. */
  async waitBlocked(count: Count = 1, readers: Readers & Patience = {}): Promise<void> {
    await this.wait(["BLOCKED", ...countWords(count), ...filterWords(readers)], readers);
  }

  /** Waits until a group has nothing to read and nothing pending. */
  async waitDrained(stream: string, group: string, patience?: Patience): Promise<void> {
    await this.wait(["DRAINED", stream, group], patience);
  }

  async waitPending(stream: string, group: string, count: Count, patience?: Patience): Promise<void> {
    await this.wait(["PENDING", stream, group, ...countWords(count)], patience);
  }

  /** Waits until a group has so many entries left to read. */
  async waitLag(stream: string, group: string, count: Count, patience?: Patience): Promise<void> {
    await this.wait(["LAG", stream, group, ...countWords(count)], patience);
  }

  async waitLen(stream: string, count: Count, patience?: Patience): Promise<void> {
    await this.wait(["LEN", stream, ...countWords(count)], patience);
  }

  /** Waits until an entry has that value in that field. */
  async waitEntry(stream: string, field: string, value: string, patience?: Patience): Promise<void> {
    await this.wait(["ENTRY", stream, field, value], patience);
  }

  /** Waits until so many calls were answered. */
  async waitCalls(command: string, count: Count = SOME, query: CallQuery & Patience = {}): Promise<void> {
    await this.wait(["CALLS", ...countWords(count), ...queryWords({ ...query, command })], query);
  }

  /** Waits until a fault keeps back so many. */
  async waitHeld(fault: { name: string } | string, count: Count = SOME, patience?: Patience): Promise<void> {
    await this.wait(["HELD", nameOf(fault), ...countWords(count)], patience);
  }

  /** Waits until so many clients are connected, that of the test among them. */
  async waitClients(count: Count, patience?: Patience): Promise<void> {
    await this.wait(["CLIENTS", ...countWords(count)], patience);
  }

  async waitSubscribed(channel: string, count: Count = SOME, patience?: Patience): Promise<void> {
    await this.wait(["SUBSCRIBED", channel, ...countWords(count)], patience);
  }

  /** Waits until nothing is held: by faults, by a pause, or for its turn. */
  async waitIdle(patience?: Patience): Promise<void> {
    await this.wait(["IDLE"], patience);
  }

  async assertBlocked(count: Count, readers: Readers = {}): Promise<void> {
    await this.assert("BLOCKED", ...countWords(count), ...filterWords(readers));
  }

  async assertDrained(stream: string, group: string): Promise<void> {
    await this.assert("DRAINED", stream, group);
  }

  async assertPending(stream: string, group: string, count: Count): Promise<void> {
    await this.assert("PENDING", stream, group, ...countWords(count));
  }

  async assertLag(stream: string, group: string, count: Count): Promise<void> {
    await this.assert("LAG", stream, group, ...countWords(count));
  }

  async assertEntry(stream: string, field: string, value: string): Promise<void> {
    await this.assert("ENTRY", stream, field, value);
  }

  async assertClients(count: Count): Promise<void> {
    await this.assert("CLIENTS", ...countWords(count));
  }

  async assertSubscribed(channel: string, count: Count = SOME): Promise<void> {
    await this.assert("SUBSCRIBED", channel, ...countWords(count));
  }

  async assertHeld(fault: { name: string } | string, count: Count = SOME): Promise<void> {
    await this.assert("HELD", nameOf(fault), ...countWords(count));
  }

  async assertIdle(): Promise<void> {
    await this.assert("IDLE");
  }

  async assertLen(stream: string, count: Count): Promise<void> {
    await this.assert("LEN", stream, ...countWords(count));
  }

  async assertCalls(command: string, count: Count, query: CallQuery = {}): Promise<void> {
    await this.assert("CALLS", ...countWords(count), ...queryWords({ ...query, command }));
  }

  // What the ledger knows, which spaces keep from the start and other servers from `startLedger` on.

  /** Insists that each entry was delivered, and acknowledged since by somebody it was delivered to. */
  async assertAtLeastOnce(stream: string, group: string, promised: Promised = {}): Promise<void> {
    await this.assert("AT-LEAST-ONCE", stream, group, ...promisedWords(promised));
  }

  /** Likewise, and that none was delivered more than once. */
  async assertExactlyOnce(stream: string, group: string, promised: Promised = {}): Promise<void> {
    await this.assert("EXACTLY-ONCE", stream, group, ...promisedWords(promised));
  }

  /** Insists that no entry was trimmed or deleted before it was delivered. */
  async assertNoLoss(stream: string, group: string): Promise<void> {
    await this.assert("NO-LOSS", stream, group);
  }

  /** Insists that no entry is pending or dropped, and that nobody acknowledged what was not delivered to it. */
  async assertNoLeak(stream: string, group: string): Promise<void> {
    await this.assert("NO-LEAK", stream, group);
  }

  /** Waits until each entry was delivered, and acknowledged since by somebody it was delivered to. */
  async waitAtLeastOnce(stream: string, group: string, promised: Promised & Patience = {}): Promise<void> {
    await this.wait(["AT-LEAST-ONCE", stream, group, ...promisedWords(promised)], promised);
  }

  /** Likewise, and none was delivered more than once. */
  async waitExactlyOnce(stream: string, group: string, promised: Promised & Patience = {}): Promise<void> {
    await this.wait(["EXACTLY-ONCE", stream, group, ...promisedWords(promised)], promised);
  }

  /** Waits until no entry is pending or dropped, and nobody acknowledged what was not delivered to it. */
  async waitNoLeak(stream: string, group: string, patience?: Patience): Promise<void> {
    await this.wait(["NO-LEAK", stream, group], patience);
  }
}

function nameOf(fault: { name: string } | string): string {
  return typeof fault === "string" ? fault : fault.name;
}

function promisedWords({ worked }: Promised): string[] {
  return worked ? ["WORKED"] : [];
}

function sentence(error: ReplyError): string {
  return error.message.replace(/^ERR /, "");
}

const SOME = ">= 1";

/** How long a test waits if it does not say. */
export const PATIENCE_MS = 5_000;
