// Subscriptions of GraphQL over channels, with graphql-redis-subscriptions: HOST:PORT.
//
// What one process publishes, the subscribers in another get as results of their queries; a subscriber
// that has left gets nothing more, and the last one ends the channel.
"use strict";

const assert = require("node:assert/strict");

const { buildSchema, parse, subscribe } = require("graphql");
const { RedisPubSub } = require("graphql-redis-subscriptions");
const Redis = require("ioredis");

const { Events, main, unusedKey, until } = require("./checks.js");

const [host, port] = process.argv[2].split(":");
const connection = { host, port: Number(port) };
const prefix = unusedKey("graphql");

const schema = buildSchema(`
  type Query { none: Boolean }
  type Order { id: ID!, cents: Int, at: String }
  type Subscription { orderAdded(shop: String!): Order, anything: Order }
`);

main(async () => {
  const db = new Redis(connection);
  const here = new RedisPubSub({ connection });
  const there = new RedisPubSub({ connection, reviver });

  const patterns = await db.pubsub("NUMPAT");
  const tea = await subscribed(there, 'subscription { orderAdded(shop: "tea") { id cents } }');
  const again = await subscribed(there, 'subscription { orderAdded(shop: "tea") { at } }');
  const all = await subscribed(there, "subscription { anything { id } }");
  const channel = `${prefix}:tea`;
  await until([channel, 1], () => db.pubsub("NUMSUB", channel), "subscribers");
  await until(patterns + 1, () => db.pubsub("NUMPAT"), "patterns");

  const order = (n) => ({ id: `order-${n}`, cents: n, at: new Date(n) });
  const orders = Array.from({ length: 50 }, (_, n) => order(n));
  for (const each of orders) await here.publish(channel, { orderAdded: each, anything: each });
  assert.deepEqual(
    await tea.heard.take(50),
    orders.map(({ id, cents }) => ({ orderAdded: { id, cents } })),
  );
  assert.deepEqual(
    await again.heard.take(50),
    orders.map(({ cents }) => ({ orderAdded: { at: `a date: ${cents}` } })),
  );
  assert.deepEqual(await all.heard.take(50), orders.map(({ id }) => ({ anything: { id } })));

  await tea.results.return();
  await here.publish(channel, { orderAdded: orders[7] });
  assert.deepEqual(await again.heard.next(), { orderAdded: { at: "a date: 7" } });
  await again.results.return();
  await all.results.return();
  await until([], () => db.pubsub("CHANNELS", `${prefix}:*`), "channels that somebody hears");

  for (const pubsub of [here, there]) await pubsub.close();
  await db.quit();
});

async function subscribed(pubsub, query) {
  const rootValue = {
    orderAdded: ({ shop }) => pubsub.asyncIterableIterator(`${prefix}:${shop}`),
    anything: () => pubsub.asyncIterableIterator(`${prefix}:*`, { pattern: true }),
  };
  const results = await subscribe({ schema, document: parse(query), rootValue });
  const heard = new Events();
  // It subscribes when it is asked for the first result.
  const hear = async () => {
    for await (const { data, errors } of results) heard.push(errors ?? structuredClone(data));
  };
  hear().catch(heard.push);
  return { results, heard };
}

function reviver(name, value) {
  return name === "at" ? `a date: ${Date.parse(value)}` : value;
}
