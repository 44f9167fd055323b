// What the Node life cycles share.
"use strict";

const assert = require("node:assert/strict");
const crypto = require("node:crypto");
const { isDeepStrictEqual } = require("node:util");

/**
 * A key that no other run uses, so that runs do not meet on a server that they share. In a cluster it is
 * given, together with the address of the node that has it.
 */
exports.unusedKey = (client) =>
  process.env.CLIENTS_KEY ??
  `clients:${client}:${process.pid}:${crypto.randomBytes(4).toString("hex")}`;

/** Reads the number of waiting clients from the text of INFO. */
exports.blockedClients = (info) => Number(/^blocked_clients:(\d+)/m.exec(info)[1]);

/** Returns when `read` says more than `before`, after a bounded number of round trips. */
exports.untilMore = async (before, read) => {
  for (let look = 0; look < 20_000; look++) {
    if ((await read()) > before) return;
  }
  assert.fail("the read never waited");
};

/** Returns when `read` says that, after a bounded number of round trips. */
exports.until = async (expected, read, what) => {
  let actual;
  for (let look = 0; look < 20_000; look++) {
    actual = await read();
    if (isDeepStrictEqual(actual, expected)) return;
  }
  assert.deepEqual(actual, expected, what);
};

/** What happens again and again, in order: `push` tells of it, `next` waits for it. */
exports.Events = class {
  #events = [];
  #waiting = [];

  push = (event) => {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(event);
    else this.#events.push(event);
  };

  async next() {
    if (this.#events.length) return this.#events.shift();
    return new Promise((told) => this.#waiting.push(told));
  }

  async take(count) {
    const taken = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }
};

/** How many of the pending entries were delivered how often. */
exports.tallied = (counts) => {
  const tally = {};
  for (const count of counts) tally[count] = (tally[count] ?? 0) + 1;
  return tally;
};

/** Runs a life cycle. A client that is left open by a failure must not keep the process. */
exports.main = (lifeCycle) =>
  lifeCycle().catch((error) => {
    console.error(error);
    process.exit(1);
  });
