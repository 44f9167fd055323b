"""A worker's life cycle with valkey-glide: HOST:PORT PROTOCOL default|explicit|cluster."""

import asyncio
import os
import sys

import glide

from checks import LOOKS_MAX
from checks import blocked_clients
from checks import equal
from checks import unused_key

GROUP = "workers"


async def life_cycle(db, other, protocol):
    key = unused_key("glide")
    info = (await db.custom_command(["CLIENT", "INFO"])).decode()
    equal(f" resp={protocol} " in info, True, f"speaks RESP{protocol}")

    ids = await join_and_add(db, key)
    await read_and_acknowledge(db, key, ids)
    await reread_and_claim(db, key, ids)
    await look_around(db, key, ids)

    trimmed = await db.xtrim(key, glide.TrimByMaxLen(exact=True, threshold=10))
    equal(trimmed, 90, "XTRIM")
    equal(await db.xlen(key), 10, "XLEN after XTRIM")

    await wait_in_vain_and_be_woken(db, other, key)

    equal(await db.xgroup_destroy(key, GROUP), True, "XGROUP DESTROY")
    equal(await db.delete([key]), 1, "DEL")
    await db.close()
    await other.close()


async def join_and_add(db, key):
    make = glide.StreamGroupOptions(make_stream=True)
    equal(await db.xgroup_create(key, GROUP, "0", make), "OK", "XGROUP CREATE")
    error = ""
    try:
        await db.xgroup_create(key, GROUP, "0", make)
    except glide.RequestError as caught:
        error = str(caught)
    equal("BUSYGROUP" in error and "already exists" in error, True, f"XGROUP CREATE again: {error}")
    return [await db.xadd(key, [("n", str(n)), ("kind", "order")]) for n in range(100)]


async def read_and_acknowledge(db, key, ids):
    entries = await read(db, key, ">", count=100)
    equal(list(entries), ids, "ids read")
    fields = [[[b"n", b"%d" % n], [b"kind", b"order"]] for n in range(100)]
    equal(list(entries.values()), fields, "fields read")
    equal(await deliveries(db, key, ids), {1: 100}, "deliveries after reading")
    equal(await db.xack(key, GROUP, ids[:60]), 60, "XACK")


async def reread_and_claim(db, key, ids):
    equal(list(await read(db, key, "0", count=100)), ids[60:], "history")
    equal(await deliveries(db, key, ids), {2: 40}, "deliveries after reading again")

    claimed = await db.xclaim(key, GROUP, "bob", 0, ids[60:62])
    equal(list(claimed), ids[60:62], "XCLAIM")
    equal(await deliveries(db, key, ids[60:62]), {3: 2}, "deliveries after XCLAIM")
    claimed = await db.xclaim_just_id(key, GROUP, "bob", 0, ids[60:62])
    equal(claimed, ids[60:62], "XCLAIM JUSTID")
    equal(await deliveries(db, key, ids[60:62]), {3: 2}, "deliveries after JUSTID")

    cursor, claimed, _deleted = await db.xautoclaim(key, GROUP, "carol", 0, "0-0", count=10)
    equal(cursor, ids[70], "cursor of XAUTOCLAIM")
    equal(list(claimed), ids[60:70], "XAUTOCLAIM")
    equal(await deliveries(db, key, ids), {4: 2, 3: 8, 2: 30}, "deliveries at last")


async def look_around(db, key, ids):
    summary = await db.xpending(key, GROUP)
    consumers = [[b"alice", b"30"], [b"carol", b"10"]]
    equal(summary, [40, ids[60], ids[99], consumers], "XPENDING")
    rows = await db.xpending_range(
        key, GROUP, glide.MinId(), glide.MaxId(), 100, glide.StreamPendingOptions(None, "carol")
    )
    equal([row[0] for row in rows], ids[60:70], "XPENDING of a consumer")

    info = await db.xinfo_stream(key)
    names = (b"length", b"groups", b"entries-added", b"last-generated-id")
    equal([info[name] for name in names], [100, 1, 100, ids[99]], "XINFO STREAM")
    full = await db.xinfo_stream_full(key)
    equal(full[b"groups"][0][b"pel-count"], 40, "XINFO STREAM FULL")

    [group] = await db.xinfo_groups(key)
    names = (b"consumers", b"pending", b"last-delivered-id", b"entries-read", b"lag")
    equal([group[name] for name in names], [3, 40, ids[99], 100, 0], "XINFO GROUPS")
    consumers = {row[b"name"]: row[b"pending"] for row in await db.xinfo_consumers(key, GROUP)}
    equal(consumers, {b"alice": 30, b"bob": 0, b"carol": 10}, "XINFO CONSUMERS")


async def wait_in_vain_and_be_woken(db, other, key):
    equal(await read(db, key, ">", block_ms=10), {}, "a wait in vain")

    before = await blocked(other)
    waiting = asyncio.ensure_future(read(db, key, ">", count=1, block_ms=4000))
    for _ in range(LOOKS_MAX):
        if await blocked(other) > before:
            break
    else:
        sys.exit("the read never waited")
    woken = await other.xadd(key, [("n", "woken")])
    equal(await waiting, {woken: [[b"n", b"woken"]]}, "the read that was woken")


async def blocked(client):
    return blocked_clients((await client.info([glide.InfoSection.CLIENTS])).decode())


async def deliveries(db, key, ids):
    """How many pending entries were delivered how often."""
    start, end = glide.IdBound(ids[0]), glide.IdBound(ids[-1])
    counts = [row[3] for row in await db.xpending_range(key, GROUP, start, end, 100)]
    return {count: counts.count(count) for count in counts}


async def read(db, key, after, **options):
    options = glide.StreamReadGroupOptions(**options)
    reply = await db.xreadgroup({key: after}, GROUP, "alice", options)
    return reply[key.encode()] if reply else {}


async def main():
    address, protocol, choice = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    options = {"protocol": glide.ProtocolVersion[f"RESP{protocol}"]} if choice == "explicit" else {}
    if choice == "cluster":
        configuration = glide.GlideClusterClientConfiguration(addresses_of(address))
        db = await glide.GlideClusterClient.create(configuration)
        address = os.environ["CLIENTS_NODE"]
    else:
        db = await connect(address, options)
    await life_cycle(db, await connect(address, options), protocol)


async def connect(address, options):
    configuration = glide.GlideClientConfiguration(addresses_of(address), **options)
    return await glide.GlideClient.create(configuration)


def addresses_of(address):
    host, port = address.rsplit(":", 1)
    return [glide.NodeAddress(host, int(port))]


asyncio.run(main())
