"""A service with faststream on streams and channels: HOST:PORT [worker STREAM NAME].

Orders go to a group of workers. One is killed with an order in hand, which another claims; one order
is refused the first time and comes again. Questions are answered, over a stream and over a channel,
and what is said on channels is heard by name and by pattern.
"""

import asyncio
import sys

import redis.asyncio
from faststream import AckPolicy
from faststream.exceptions import NackMessage
from faststream.redis import PubSub
from faststream.redis import RedisBroker
from faststream.redis import RedisMessage
from faststream.redis import StreamSub

from checks import equal
from checks import until
from checks import unused_key
from killed import await_line
from killed import kill
from killed import worker

GROUP = "workers"
SECONDS_MAX = 30


async def story(address):
    stream = unused_key("faststream")
    db = redis.asyncio.Redis.from_url(f"redis://{address}", decode_responses=True)
    await orders(address, stream, db)
    await batches(address, stream)
    await questions(address, stream)
    await channels(address, stream)
    await db.delete(stream, f"{stream}:questions")
    await db.aclose()


async def orders(address, stream, db):
    producer = broker_of(address)
    await producer.connect()
    alice = worker(address, "worker", stream, "alice")
    await_line(alice, "ready")
    await producer.publish({"n": 0}, stream=stream)
    await_line(alice, "begun")
    for n in range(1, 21):
        await producer.publish({"n": n}, stream=stream)
    kill(alice)

    claims = StreamSub(stream, group=GROUP, consumer="bob", min_idle_time=1, polling_interval=10)
    equal(await handled(address, db, claims, 1), [(0, 2)], "what alice had in hand")
    reads = StreamSub(stream, group=GROUP, consumer="bob", maxlen=100)
    expected = [(n, 1) for n in range(1, 21)]
    equal(await handled(address, db, reads, 20, 7), expected, "what came meanwhile")
    equal(await handled(address, db, claims, 1), [(7, 2)], "what was refused")

    [group] = await db.xinfo_groups(stream)
    facts = [group[name] for name in ("pending", "entries-read", "lag")]
    equal(facts, [0, 21, 0], "pending, entries-read and lag")
    await producer.stop()


async def handled(address, db, subscription, count, refused=None):
    """Which orders came, and how often each was delivered by then."""
    broker, done = broker_of(address), asyncio.Queue()

    @broker.subscriber(stream=subscription, ack_policy=AckPolicy.NACK_ON_ERROR)
    async def handle(order: dict, message: RedisMessage):
        await done.put((order["n"], await message.get_delivery_count()))
        if order["n"] == refused:
            raise NackMessage

    async with broker:
        await broker.start()
        orders = [await heard(done) for _ in range(count)]
        left = 0 if refused is None else 1
        await until(left, lambda: pending(db, subscription.name), "orders not acknowledged")
    return orders


async def pending(db, stream):
    return (await db.xpending(stream, GROUP))["pending"]


async def batches(address, stream):
    """Without a group, a batch has all that is there."""
    broker, done = broker_of(address), asyncio.Queue()

    @broker.subscriber(stream=StreamSub(stream, last_id="0", batch=True))
    async def handle(orders: list[dict]):
        await done.put([order["n"] for order in orders])

    async with broker:
        await broker.start()
        equal(await heard(done), list(range(21)), "a batch")


async def questions(address, stream):
    broker = broker_of(address)

    @broker.subscriber(stream=f"{stream}:questions")
    async def by_stream(n: int) -> int:
        return 2 * n

    @broker.subscriber(f"{stream}:ask")
    async def by_channel(n: int) -> int:
        return 3 * n

    async with broker:
        await broker.start()
        answer = await broker.request(21, stream=f"{stream}:questions", timeout=SECONDS_MAX)
        equal(await answer.decode(), 42, "the answer to what came over a stream")
        answer = await broker.request(21, f"{stream}:ask", timeout=SECONDS_MAX)
        equal(await answer.decode(), 63, "the answer to what came over a channel")


async def channels(address, stream):
    broker, said = broker_of(address), asyncio.Queue()

    @broker.subscriber(f"{stream}:steps")
    @broker.publisher(f"{stream}:log:info")
    async def step(text: str) -> str:
        return f"step: {text}"

    @broker.subscriber(PubSub(f"{stream}:log:*", pattern=True))
    async def log(text: str, message: RedisMessage):
        await said.put((message.raw_message["channel"], text))

    async with broker:
        await broker.start()
        await broker.publish("one", f"{stream}:steps")
        equal(await heard(said), (f"{stream}:log:info", "step: one"), "what was said of a step")
        await broker.publish("two", f"{stream}:log:error")
        equal(await heard(said), (f"{stream}:log:error", "two"), "what was said at once")


def broker_of(address):
    return RedisBroker(f"redis://{address}", logger=None)


async def heard(queue):
    return await asyncio.wait_for(queue.get(), SECONDS_MAX)


async def work(address, stream, name):
    """Takes an order in hand and never lets go of it."""
    broker = broker_of(address)

    @broker.subscriber(stream=StreamSub(stream, group=GROUP, consumer=name, max_records=1))
    async def handle(order: dict):
        print("begun", flush=True)
        await asyncio.Event().wait()

    async with broker:
        await broker.start()
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        asyncio.run(story(sys.argv[1]))
    else:
        address, _worker, stream, name = sys.argv[1:]
        asyncio.run(work(address, stream, name))
