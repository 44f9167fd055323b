// What a test that failed says of its server.

import type { Call, TestDouble } from "./double";
import { toRecord, type Reply } from "./resp";

/** Tells of the clock, clients that wait, pending entries, faults and the last calls. */
export async function report(td: TestDouble): Promise<string> {
  // The calls come first: looking at the rest adds to them.
  const calls = await part("calls", () => tellCalls(td));
  const parts = [
    await part("clock", () => tellClock(td)),
    await part("blocked", () => tellBlocked(td)),
    await part("pending", () => tellPending(td)),
    await part("faults", () => tellFaults(td)),
    calls,
  ];
  return [`Tailrace at ${td.url}`, ...parts.flat()].join("\n");
}

/** A part that cannot be told must not hide the others. */
async function part(name: string, tell: () => Promise<string[]>): Promise<string[]> {
  const lines = await tell().catch((error: Error) => [`cannot be told: ${error.message}`]);
  return (lines.length === 0 ? ["none"] : lines).map((line, at) => `  ${(at === 0 ? name : "").padEnd(9)}${line}`);
}

async function tellClock(td: TestDouble): Promise<string[]> {
  const { mode, now, next, blocked } = await td.clock();
  const due = next === null ? "nothing is due" : `the next deadline comes in ${next - now} ms`;
  return [`${mode}, at ${now} (${new Date(now).toISOString()}); ${due}; ${blocked === 1 ? "1 client waits" : `${blocked} clients wait`}`];
}

/** Who waits is told by the error of an assertion that cannot hold. */
async function tellBlocked(td: TestDouble): Promise<string[]> {
  const told = await td.assert("BLOCKED", "<", 0).catch((error: Error) => error.message);
  const [, readers = ""] = String(told).split("who waits: ");
  return readers.split("; ").filter((reader) => reader !== "");
}

async function tellPending(td: TestDouble): Promise<string[]> {
  const lines: string[] = [];
  for (const stream of await streams(td)) {
    const groups = (await td.call("XINFO", "GROUPS", stream)) as Reply[];
    for (const { name } of groups.map(toRecord)) {
      lines.push(...(await tellGroup(td, stream, String(name))));
    }
  }
  return lines;
}

async function tellGroup(td: TestDouble, stream: string, group: string): Promise<string[]> {
  const found = (await td.call("XPENDING", stream, group, "-", "+", PENDING_MAX + 1)) as Reply[][];
  const lines = found
    .slice(0, PENDING_MAX)
    .map(([id, consumer, idle, count]) => `${stream} ${group}: ${id} with ${consumer}, idle ${idle} ms, delivered ${count} x`);
  return found.length > PENDING_MAX ? [...lines, `${stream} ${group}: and more`] : lines;
}

async function streams(td: TestDouble): Promise<string[]> {
  const found: string[] = [];
  let cursor = "0";
  do {
    const [next, keys] = (await td.call("SCAN", cursor, "TYPE", "stream", "COUNT", 1_000)) as [string, string[]];
    found.push(...keys);
    cursor = next;
  } while (cursor !== "0" && found.length < STREAMS_MAX);
  return found.sort().slice(0, STREAMS_MAX);
}

async function tellFaults(td: TestDouble): Promise<string[]> {
  const faults = ((await td.td("FAULT", "LIST")) as Reply[]).map(toRecord);
  return faults.map(({ fault, matched, hits, held }) => {
    const keeps = held === 0 ? "" : `, keeps back ${held}`;
    return `${fault}: struck ${hits} of ${matched} calls that match${keeps}`;
  });
}

async function tellCalls(td: TestDouble): Promise<string[]> {
  const count = await td.countCalls();
  const calls = await td.calls({ limit: CALLS_MAX });
  const head = count > calls.length ? [`the last ${calls.length} of ${count}:`] : [];
  return [...head, ...calls.map(tellCall)];
}

function tellCall({ number, time, client, name, call, reply, fault }: Call): string {
  const words = call.map((word) => (/^[\x21-\x7e]+$/.test(word) ? word : JSON.stringify(word)));
  const heard = reply.replaceAll("\r\n", " ").trim();
  const struck = fault === null ? "" : ` [fault ${fault}]`;
  const who = name === "" ? `client ${client}` : `client ${client} '${name}'`;
  return `${number}. at ${time} ${who}: ${cut(words.join(" "))} -> ${cut(heard) || "nothing"}${struck}`;
}

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text;
}

/** What fits on a screen. */
const CALLS_MAX = 20;
const PENDING_MAX = 5;
const STREAMS_MAX = 20;
const TEXT_MAX = 160;
