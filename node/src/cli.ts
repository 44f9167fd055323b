#!/usr/bin/env node
// The command `tailrace`: the binary, with the arguments that it was given.

import { spawn } from "node:child_process";
import { constants } from "node:os";

import { findBinary } from "./binary";

const server = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => server.kill(signal));
}
server.on("error", (error) => {
  console.error(`tailrace: ${error.message}`);
  process.exitCode = 1;
});
server.on("exit", (code, signal) => {
  process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
});
