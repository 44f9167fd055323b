// What a test that failed says of its server.

import type { Call } from "./data";
import type { TestDouble } from "./double";
import { toRecord, type Reply } from "./resp";

/** Tells of the clock, clients that wait, pending entries, faults and the last calls. */
export async function report(td: TestDouble): Promise<string> {
  const parts = [
    await part("clock", () => tellClock(td)),
    await part("blocked", () => tellBlocked(td)),
    await part("pending", () => tellPending(td)),
    await part("faults", () => tellFaults(td)),
    await part("calls", () => tellCalls(td)),
  ];
  return [`Tailrace at ${td.url}`, ...parts.flat()].join("\n");
}

/** A part that cannot be told must not hide the others. */
async function part(name: string, tell: () => Promise<string[]>): Promise<string[]> {
  const lines = await tell().catch((error: Error) => [`cannot be told: ${error.message}`]);
  return (lines.length === 0 ? ["none"] : lines).map((line, at) => `  ${(at === 0 ? name : "").padEnd(9)}${line}`);
}

async function tellClock(td: TestDouble): Promise<string[]> {
  const { mode, now, next } = await td.clock();
  const due = next === null ? "nothing is due" : `the next deadline comes in ${next - now} ms`;
  return [`${mode}, at ${now} (${new Date(now).toISOString()}); ${due}`];
}

/** Who waits is told by the error of an assertion that cannot hold, node by node. */
async function tellBlocked(td: TestDouble): Promise<string[]> {
  const told = await td.assert("BLOCKED", "<", 0).catch((error: Error) => error.message);
  const readers = String(told).split("; ").map((part) => part.replace("who waits: ", ""));
  return readers.filter((reader) => reader.startsWith("client ")).map(cut);
}

/** The state of all data has it, which no fault and no pause can keep back. */
async function tellPending(td: TestDouble): Promise<string[]> {
  const now = await td.now();
  const entries = [...(await td.state()).matchAll(PENDING)].map(([, ...parts]) => parts);
  const lines = entries
    .slice(0, PENDING_MAX)
    .map(
      ([stream, group, id, consumer, count, at]) =>
        `${stream} ${group}: ${id} with ${consumer}, idle ${now - Number(at)} ms, delivered ${count} x`,
    );
  return entries.length > PENDING_MAX ? [...lines, `and ${entries.length - PENDING_MAX} more`] : lines;
}

const PENDING = /^(?:db0 )?(.+) group (.+) pending (\S+) consumer (.+) deliveries (\d+) delivered (\d+)$/gm;

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
const PENDING_MAX = 20;
const TEXT_MAX = 160;
