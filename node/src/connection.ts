// One connection to a server: commands go out, replies come back in the same order.

import { connect, type Socket } from "node:net";

import { Decoder, encode, type Reply } from "./resp";

/** Connects when the first command is sent, and again when one is sent after the connection was lost. */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #waiting: Waiting[] = [];

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname.replace(/^\[|\]$/g, "");
    this.#port = Number(port || 6379);
  }

  /** Sends a command and resolves with its reply, errors of the server included. */
  send(words: readonly (string | number)[]): Promise<Reply> {
    const socket = (this.#socket ??= this.#open());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // The process goes on while a reply is waited for, and not for the connection's sake.
      socket.ref();
      socket.write(encode(words));
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    const decoder = new Decoder();
    let reason: Error | undefined;
    socket.on("data", (bytes) => {
      try {
        decoder.feed(bytes).forEach((reply) => this.#waiting.shift()?.resolve(reply));
      } catch (error) {
        socket.destroy(error as Error);
      }
      if (this.#waiting.length === 0) {
        socket.unref();
      }
    });
    socket.on("error", (error) => {
      reason = error;
    });
    socket.on("close", () => {
      if (this.#socket === socket) {
        this.#socket = undefined;
      }
      const waiting = this.#waiting.splice(0);
      const where = `${this.#host}:${this.#port}`;
      const error = new Error(`the connection to Tailrace at ${where} has ended`, { cause: reason });
      waiting.forEach(({ reject }) => reject(error));
    });
    return socket;
  }
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}
