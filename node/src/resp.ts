// RESP, as far as a client needs it that sends commands and reads replies one after the other.

/** What a server replies. Errors are values here: who sent the command decides what becomes of them. */
export type Reply = string | number | boolean | null | ReplyError | Reply[] | Map<Reply, Reply>;

/** An error that the server replied with. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** A command as it goes over the wire. */
export function encode(words: readonly (string | number)[]): Buffer {
  const parts = [Buffer.from(`*${words.length}\r\n`)];
  for (const word of words) {
    const bytes = Buffer.from(String(word));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, CRLF);
  }
  return Buffer.concat(parts);
}

/** Finds whole replies in bytes that come in pieces. */
export class Decoder {
  #input: Buffer = Buffer.alloc(0);

  /** The replies that are whole with these bytes. */
  feed(bytes: Buffer): Reply[] {
    this.#input = Buffer.concat([this.#input, bytes]);
    const replies: Reply[] = [];
    for (;;) {
      const found = read(this.#input, 0);
      if (found === undefined) {
        return replies;
      }
      replies.push(found.reply);
      this.#input = this.#input.subarray(found.end);
    }
  }
}

/** Turns what RESP2 sends as names and values in turn, and RESP3 as a map, into an object. */
export function toRecord(reply: unknown): Record<string, Reply> {
  if (reply instanceof Map) {
    return Object.fromEntries([...reply].map(([name, value]) => [String(name), value as Reply]));
  }
  if (!Array.isArray(reply)) {
    return reply as Record<string, Reply>;
  }
  const record: Record<string, Reply> = {};
  for (let at = 0; at + 1 < reply.length; at += 2) {
    record[String(reply[at])] = reply[at + 1] as Reply;
  }
  return record;
}

interface Found {
  reply: Reply;
  end: number;
}

/** Reads the reply that begins there; undefined if it is not whole. */
function read(input: Buffer, start: number): Found | undefined {
  const line = input.indexOf(CRLF, start);
  if (line < 0) {
    return undefined;
  }
  const text = input.toString("utf8", start + 1, line);
  const end = line + CRLF.length;
  const kind = String.fromCharCode(input[start] ?? 0);
  switch (kind) {
    case "+":
      return { reply: text, end };
    case "-":
      return { reply: new ReplyError(text), end };
    case ":":
    case ",":
      return { reply: Number(text), end };
    case "#":
      return { reply: text === "t", end };
    case "_":
      return { reply: null, end };
    case "$":
    case "=":
      return readBulk(input, Number(text), end);
    case "*":
    case "~":
    case ">":
      return readList(input, Number(text), end);
    case "%":
      return readMap(input, Number(text), end);
    default:
      throw new Error(`a reply cannot begin with ${JSON.stringify(kind)}`);
  }
}

function readBulk(input: Buffer, length: number, start: number): Found | undefined {
  if (length < 0) {
    return { reply: null, end: start };
  }
  const end = start + length;
  if (input.length < end + CRLF.length) {
    return undefined;
  }
  return { reply: input.toString("utf8", start, end), end: end + CRLF.length };
}

function readList(input: Buffer, length: number, start: number): Found | undefined {
  if (length < 0) {
    return { reply: null, end: start };
  }
  const reply: Reply[] = [];
  let end = start;
  while (reply.length < length) {
    const found = read(input, end);
    if (found === undefined) {
      return undefined;
    }
    reply.push(found.reply);
    end = found.end;
  }
  return { reply, end };
}

function readMap(input: Buffer, length: number, start: number): Found | undefined {
  const found = readList(input, length * 2, start);
  if (found === undefined || !Array.isArray(found.reply)) {
    return undefined;
  }
  const words = found.reply;
  const reply = new Map<Reply, Reply>();
  for (let at = 0; at < words.length; at += 2) {
    reply.set(words[at] as Reply, words[at + 1] as Reply);
  }
  return { reply, end: found.end };
}

const CRLF = Buffer.from("\r\n");
