// Two servers of socket.io behind one adapter: streams|channels ioredis-N|node-redis-N HOST:PORT.
//
// What one server says, the clients of both hear; what a server asks of the other's clients, they answer.
// With streams, a client that was cut off hears afterwards what it missed.
"use strict";

const assert = require("node:assert/strict");
const { once } = require("node:events");
const http = require("node:http");

const { Server } = require("socket.io");
const { io } = require("socket.io-client");

const { Events, blockedClients, main, unusedKey, until, untilMore } = require("./checks.js");

const [kind, library, address] = process.argv.slice(2);
const key = unusedKey(`socket-io-${kind}`);
const opened = [];

main(async () => {
  const db = await connect();
  const blocked = async () => blockedClients(await call(db, "INFO", "clients"));
  const before = await blocked();
  const [here, there] = [await serve(), await serve()];
  const counts = () => Promise.all([here, there].map(countOfServers));
  await until([2, 2], counts, "servers that each knows of");
  // Each server reads what comes after it has begun to wait.
  if (kind === "streams") await untilMore(before + 1, blocked);

  const [alice, bob] = [await join(here), await join(there)];
  await everybodyHears(here, alice, bob);
  await roomsHear(here, there, alice, bob);
  await clientsAnswer(here, there, alice, bob);
  if (kind === "streams") await cutOffAndRecover(here, there, alice);
  await leave(here, there, alice, bob);
  assert.equal(Number(await call(db, "DEL", key)), kind === "streams" ? 1 : 0);
  for (const client of opened) client.disconnect();
  process.exit(0);
});

async function everybodyHears(here, alice, bob) {
  for (let n = 0; n < 50; n++) here.io.emit("said", n, Buffer.from([n, 0, 255]));
  const expected = Array.from({ length: 50 }, (_, n) => [n, [n, 0, 255]]);
  for (const client of [alice, bob]) assert.deepEqual(await client.said.take(50), expected);
}

async function roomsHear(here, there, alice, bob) {
  // Bob's server puts him into a room; the other server asks it to put everybody there into another.
  [...there.io.of("/").sockets.values()][0].join("one");
  const rooms = async () => roomsBesidesOwn(await here.io.in("one").fetchSockets());
  await until(["one"], rooms, "rooms");
  here.io.in("one").socketsJoin("two");
  await until(["one", "two"], rooms, "rooms");
  here.io.to("two").emit("said", "to the room");
  here.io.except("two").emit("said", "to all others");
  assert.deepEqual(await bob.said.next(), ["to the room"]);
  assert.deepEqual(await alice.said.next(), ["to all others"]);
}

async function clientsAnswer(here, there, alice, bob) {
  for (const { socket, name } of [alice, bob]) {
    socket.on("ask", (n, answer) => answer(name + n));
  }
  const answers = await here.io.timeout(20_000).emitWithAck("ask", 1);
  assert.deepEqual(answers.sort(), [alice.name + 1, bob.name + 1].sort());

  there.io.on("between", (n, answer) => answer(n + 1));
  assert.deepEqual(await here.io.serverSideEmitWithAck("between", 41), [42]);
}

async function cutOffAndRecover(here, there, alice) {
  const [socket] = here.io.of("/").sockets.values();
  const gone = once(socket, "disconnect");
  alice.socket.io.engine.close();
  await gone;
  there.io.emit("said", "while she was away");
  alice.socket.connect();
  assert.deepEqual(await alice.said.next(), ["while she was away"]);
  assert.equal(alice.socket.recovered, true);
}

async function leave(here, there, alice, bob) {
  const sent = once(bob.socket, "disconnect");
  here.io.in("two").disconnectSockets();
  assert.deepEqual(await sent, ["io server disconnect", undefined]);
  const left = once([...here.io.of("/").sockets.values()][0], "disconnect");
  alice.socket.disconnect();
  assert.equal((await left)[0], "client namespace disconnect");
  for (const server of [here, there]) await server.io.close();
}

/** A server on a free port, with clients of its own for what the adapter does. */
async function serve() {
  const server = http.createServer();
  const io = new Server(server, { connectionStateRecovery: kind === "streams" ? {} : undefined });
  if (kind === "streams") {
    const { createAdapter } = require("@socket.io/redis-streams-adapter");
    const names = { streamName: key, channelPrefix: key, sessionKeyPrefix: `${key}:session:` };
    io.adapter(createAdapter(await connect(), names));
  } else {
    const { createAdapter } = require("@socket.io/redis-adapter");
    io.adapter(createAdapter(await connect(), await connect(), { key }));
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { io, url: `http://127.0.0.1:${server.address().port}` };
}

function countOfServers(server) {
  return server.io.of("/").adapter.serverCount();
}

async function join(server) {
  const socket = io(server.url, { transports: ["websocket"], reconnection: false });
  const said = new Events();
  socket.on("said", (...words) => {
    // The place in the stream, from which a client that was cut off goes on.
    if (kind === "streams") assert.match(words.pop(), /^\d+-\d+$/);
    said.push(words.map((word) => (Buffer.isBuffer(word) ? [...word] : word)));
  });
  await once(socket, "connect");
  return { socket, said, name: socket.id };
}

function roomsBesidesOwn(sockets) {
  return sockets.flatMap(({ id, rooms }) => [...rooms].filter((room) => room !== id)).sort();
}

async function connect() {
  const [host, port] = address.split(":");
  let client;
  if (library.startsWith("ioredis")) {
    client = new (require(library))({ host, port: Number(port) });
  } else {
    client = await require(library).createClient({ url: `redis://${address}` }).connect();
  }
  client.on("error", () => {});
  opened.push(client);
  return client;
}

function call(client, ...words) {
  return library.startsWith("ioredis") ? client.call(...words) : client.sendCommand(words);
}
