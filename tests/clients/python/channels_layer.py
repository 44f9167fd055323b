"""The publishing layer of Django Channels between two processes' layers: HOST:PORT.

What is sent to a channel reaches the one who made it; what is sent to a group reaches who is in it,
whichever layer they are connected to, and who has left does not hear it.
"""

import asyncio
import sys

import redis.asyncio
from channels_redis.pubsub import RedisPubSubChannelLayer

from checks import equal
from checks import until
from checks import unused_key
from checks import until_heard

SECONDS_MAX = 30


async def story(address):
    prefix = unused_key("channels")
    hosts = [f"redis://{address}"]
    here, there = (RedisPubSubChannelLayer(hosts=hosts, prefix=prefix) for _ in range(2))
    alice, bob = await here.new_channel(), await there.new_channel()

    db = redis.asyncio.Redis.from_url(hosts[0])
    await until_heard(db, [alice, bob])

    await there.send(alice, {"type": "hello", "bytes": b"\x00\r\n\xff", "list": [1, None, 2.5]})
    expected = {"type": "hello", "bytes": b"\x00\r\n\xff", "list": [1, None, 2.5]}
    equal(await heard(here, alice), expected, "what was sent to a channel")

    await here.group_add("room", alice)
    await there.group_add("room", bob)
    room = f"{prefix}__group__room".encode()
    await until([(room, 2)], lambda: db.pubsub_numsub(room), "layers in the group")
    for n in range(100):
        await here.group_send("room", {"type": "chat", "n": n})
    expected = [{"type": "chat", "n": n} for n in range(100)]
    for layer, channel in ((here, alice), (there, bob)):
        messages = [await heard(layer, channel) for _ in range(100)]
        equal(messages, expected, "what was sent to the group")

    await there.group_discard("room", bob)
    await here.group_send("room", {"type": "chat", "n": 100})
    equal(await heard(here, alice), {"type": "chat", "n": 100}, "one more for the group")
    # Behind it on the same connection: bob would have heard of the group before.
    await here.send(bob, {"type": "last"})
    equal(await heard(there, bob), {"type": "last"}, "what bob hears after he has left")

    for layer in (here, there):
        await layer.flush()
    await db.aclose()


async def heard(layer, channel):
    return await asyncio.wait_for(layer.receive(channel), SECONDS_MAX)


asyncio.run(story(sys.argv[1]))
