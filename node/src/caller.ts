// Commands to a server: over a connection of its own, or over a client that the test has anyway.

import { Connection } from "./connection";
import { ReplyError, type Reply } from "./resp";

/** A command, its name first. */
export type Words = readonly (string | number)[];

/** What sends commands: `(words) => client.sendCommand(words.map(String))`. */
export type Carrier = (words: Words) => Promise<unknown>;

/** A server that commands are sent to. */
export class Caller {
  readonly url: string;
  /** Where each node listens, if it is a cluster; the first is what commands go to. */
  readonly nodes: readonly string[];
  readonly #connection: Connection | undefined;
  readonly #carrier: Carrier | undefined;

  /** With a carrier there is no connection of its own. */
  constructor(url: string, carrier?: Carrier, nodes: readonly string[] = [url]) {
    this.url = url;
    this.nodes = nodes;
    this.#carrier = carrier;
    this.#connection = carrier === undefined ? new Connection(url) : undefined;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get host(): string {
    return new URL(this.url).hostname.replace(/^\[|\]$/g, "");
  }

  /** Sends any command, and throws what is an error. */
  async call(...words: Words): Promise<Reply> {
    const reply = await this.ask(words);
    if (reply instanceof ReplyError) {
      // A new one, whose stack leads to the test.
      throw new ReplyError(reply.message);
    }
    return reply;
  }

  /** Sends `TD ...`. */
  async td(...words: Words): Promise<Reply> {
    return this.call("TESTDOUBLE", ...words);
  }

  /** Ends the connection. */
  close(): void {
    this.#connection?.close();
  }

  /** Sends a command, and resolves with errors, too. */
  protected async ask(words: Words): Promise<Reply> {
    return this.#connection?.send(words) ?? carried(this.#carrier, words);
  }

  /** Sends what may wait, on a connection for that: what the test does meanwhile would be stuck behind it. */
  protected async askAside(words: Words): Promise<Reply> {
    return this.#connection === undefined ? this.ask(words) : askOnce(this.url, words);
  }

  /** Whether what a server keeps for a connection ends with that of this. */
  protected get hasConnection(): boolean {
    return this.#connection !== undefined;
  }
}

async function askOnce(url: string, words: Words): Promise<Reply> {
  const connection = new Connection(url);
  try {
    return await connection.send(words);
  } finally {
    connection.close();
  }
}

/** Clients throw what the server replied with as an error; what they throw besides is no reply. */
async function carried(carrier: Carrier | undefined, words: Words): Promise<Reply> {
  try {
    return (await carrier?.(words)) as Reply;
  } catch (error) {
    const { message } = error as Error;
    if (/^[A-Z][A-Z0-9]* /.test(message)) {
      return new ReplyError(message);
    }
    throw error;
  }
}
