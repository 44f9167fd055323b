"""Events with broadcaster from one process's object to another's: HOST:PORT redis|redis-stream.

Each subscriber hears every event since it came, in order, and none of a channel that it left.
"""

import asyncio
import sys

import redis.asyncio
from broadcaster import Broadcast
from broadcaster import Event

from checks import equal
from checks import unused_key
from checks import until_heard

SECONDS_MAX = 30


async def story(address, scheme):
    url = f"{scheme}://{address}"
    orders, news = unused_key(scheme), unused_key(scheme)
    db = redis.asyncio.Redis.from_url(f"redis://{address}")
    async with Broadcast(url) as here, Broadcast(url) as there:
        if scheme == "redis-stream":
            # A stream keeps it, but new subscribers begin behind what is there.
            await here.publish(orders, "too early")
        async with there.subscribe(orders) as alice, there.subscribe(orders) as bob:
            if scheme == "redis":
                await until_heard(db, [orders])
            for n in range(50):
                await here.publish(orders, f"order {n}")
            expected = [Event(orders, f"order {n}") for n in range(50)]
            for subscriber in (alice, bob):
                events = [await heard(subscriber) for _ in range(50)]
                equal(events, expected, "events")

            async with there.subscribe(news) as carol:
                if scheme == "redis":
                    await until_heard(db, [orders, news])
                await here.publish(news, "first")
                equal(await heard(carol), Event(news, "first"), "an event of another channel")
            await here.publish(news, "unheard")
            await here.publish(orders, "last")
            equal(await heard(bob), Event(orders, "last"), "an event after a channel was left")

    # Channels leave nothing behind, streams two keys.
    left = await db.delete(orders, news)
    equal(left, 2 if scheme == "redis-stream" else 0, "keys left")
    await db.aclose()


async def heard(subscriber):
    return await asyncio.wait_for(subscriber.get(), SECONDS_MAX)


asyncio.run(story(sys.argv[1], sys.argv[2]))
