// How the process is found, started and ended.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { attachOrStart, findBinary, platformPackages, Server, start } from "tailrace";

test("the binary is that of the package for this platform", () => {
  const [best] = platformPackages();
  assert.ok(findBinary().endsWith(`node_modules/${best}/bin/tailrace`), findBinary());
});

test("a server listens when it is started, and has ended when it is stopped", async () => {
  const server = await start({ clock: "frozen:1764288000000", seed: 7 });
  assert.equal(await server.now(), 1_764_288_000_000);
  assert.match(server.url, /^redis:\/\/127\.0\.0\.1:\d+$/);
  await server.stop();
  const socket = connect(server.port, server.host);
  const [error] = await once(socket, "error");
  assert.equal(error.code, "ECONNREFUSED");
});

test("what cannot start says why", async () => {
  await assert.rejects(start({ args: ["--appendonly", "yes"] }), /did not start: it has ended; .*appendonly/s);
  await assert.rejects(start({ binary: "/no/tailrace" }), /ENOENT/);
});

test("a server that is named is taken, and goes on", async () => {
  const server = await start();
  process.env.TAILRACE_URL = server.url;
  try {
    const other = await attachOrStart();
    assert.ok(!(other instanceof Server));
    await other.call("SET", "key", "value");
    other.close();
    assert.equal(await server.call("GET", "key"), "value");
  } finally {
    delete process.env.TAILRACE_URL;
    await server.stop();
  }
});

test("nothing keeps a program from its end, and the server ends with it", async () => {
  const script = 'import { start } from "tailrace"; const s = await start(); await s.freeze(); console.log(s.url)';
  await watchedToTheEnd(["--input-type=module", "--eval", script], (_, exited) => exited);
});

test("the server ends with a program that is killed", async () => {
  const script =
    'import { start } from "tailrace"; const s = await start(); console.log(s.url); setInterval(() => {}, 1e6)';
  await watchedToTheEnd(["--input-type=module", "--eval", script], (child) => child.kill("SIGKILL"));
});

test("a cluster has nodes, and so have its spaces", async () => {
  const server = await start({ nodes: 3 });
  assert.equal(new Set(server.nodes.map((url) => new URL(url).port)).size, 3);
  const space = await server.space();
  assert.equal(space.nodes.length, 3);
  await server.stop();
});

/** Ends a program that prints the url of its server, and waits until a connection to that is closed. */
async function watchedToTheEnd(command, end) {
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  // It may have ended before its line is read.
  const exited = once(child, "exit");
  const [url] = await once(createInterface(child.stdout), "line");
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = new Promise((resolve) => {
    socket.on("close", resolve);
    // It may have ended before the connection was there.
    socket.on("error", resolve);
  });
  await end(child, exited);
  await ended;
}
