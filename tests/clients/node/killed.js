// Processes that a story starts, and kills in the middle of their work.
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const readline = require("node:readline");

/** Starts the story that runs once more, as the worker that these arguments describe. */
exports.worker = (...args) => {
  const stdio = ["ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, [process.argv[1], ...args], { stdio });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines };
};

/** Returns when the worker has written that line. One that ends before fails the story. */
exports.awaitLine = async ({ lines }, expected) => {
  for (;;) {
    const { value, done } = await lines.next();
    assert.ok(!done, `the worker ended before it said ${expected}`);
    if (value === expected) return;
  }
};

/** Gives the process no chance to say goodbye. */
exports.kill = async ({ child }) => {
  child.kill("SIGKILL");
  await once(child, "exit");
};
