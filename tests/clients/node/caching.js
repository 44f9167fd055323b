// Client-side caching with node-redis: MODULE HOST:PORT.
//
// What the client has cached it does not ask the server for again; once somebody has changed it, it does.
"use strict";

const assert = require("node:assert/strict");
const { main, unusedKey } = require("./checks.js");

const [name, address] = process.argv.slice(2);
const { createClient } = require(name);

const CACHE = { ttl: 0, maxEntries: 0, evictPolicy: "LRU" };

main(async () => {
  const url = `redis://${address}`;
  const writer = await createClient({ url }).connect();
  const reader = await createClient({ url, RESP: 3, clientSideCache: CACHE }).connect();
  const key = unusedKey("caching");

  for (const value of ["one", "two"]) {
    await writer.set(key, value);
    // What it is told comes before this is answered.
    await reader.ping();
    const before = await calls(writer);
    for (let time = 0; time < 3; time++) assert.equal(await reader.get(key), value);
    assert.equal((await calls(writer)) - before, 1);
  }
  assert.equal(await writer.del(key), 1);
  await reader.ping();
  assert.equal(await reader.get(key), null);

  reader.destroy();
  writer.destroy();
});

/** How often the server was asked. */
async function calls(client) {
  const info = await client.info("commandstats");
  return Number(/^cmdstat_get:calls=(\d+)/m.exec(info)?.[1] ?? 0);
}
