"""A worker's life cycle with redis-py and its fork: LIBRARY HOST:PORT MANNER PROTOCOL CHOICE.

LIBRARY is redis or valkey, and MANNER is sync or asyncio. CHOICE is default, which leaves the client's
options alone and checks that it speaks PROTOCOL by itself, or explicit, which asks for that protocol;
that also changes the shape of some replies. With cluster, the client for clusters is used, by default.

The life cycle is a generator that yields calls. It is written once; what drives it waits for their
results in the manner of the client that made them.
"""

import asyncio
import concurrent.futures
import importlib
import inspect
import os
import sys

from checks import LOOKS_MAX
from checks import equal
from checks import unused_key

GROUP = "workers"


def life_cycle(db, other, start, protocol):
    """`start` begins a call whose result is yielded for later."""
    key = unused_key(LIBRARY)
    info = yield db.client_info()
    equal(int(info.get("resp", 2)), protocol, "protocol spoken")

    ids = yield from join_and_add(db, key)
    yield from read_and_acknowledge(db, key, ids)
    yield from reread_and_claim(db, key, ids)
    yield from look_around(db, key, ids)

    equal((yield db.xtrim(key, maxlen=10, approximate=False)), 90, "XTRIM")
    equal((yield db.xlen(key)), 10, "XLEN after XTRIM")

    yield from wait_in_vain_and_be_woken(db, other, key, start)

    equal((yield db.xgroup_destroy(key, GROUP)), 1, "XGROUP DESTROY")
    equal((yield db.delete(key)), 1, "DEL")
    for client in (db, other):
        yield client.aclose() if hasattr(client, "aclose") else client.close()


def join_and_add(db, key):
    equal((yield db.xgroup_create(key, GROUP, id="0", mkstream=True)), True, "XGROUP CREATE")
    error = None
    try:
        yield db.xgroup_create(key, GROUP, id="0", mkstream=True)
    except library.ResponseError as caught:
        error = str(caught)
    equal(error, "BUSYGROUP Consumer Group name already exists", "XGROUP CREATE again")

    ids = []
    for n in range(100):
        ids.append((yield db.xadd(key, {"n": n, "kind": "order"})))
    return ids


def read_and_acknowledge(db, key, ids):
    entries = read_of(key, (yield db.xreadgroup(GROUP, "alice", {key: ">"}, count=100)))
    equal([entry_id for entry_id, _ in entries], ids, "ids read")
    equal([int(fields["n"]) for _, fields in entries], list(range(100)), "fields read")
    equal((yield from deliveries(db, key, ids)), {1: 100}, "deliveries after reading")
    equal((yield db.xack(key, GROUP, *ids[:60])), 60, "XACK")


def reread_and_claim(db, key, ids):
    entries = read_of(key, (yield db.xreadgroup(GROUP, "alice", {key: "0"}, count=100)))
    equal([entry_id for entry_id, _ in entries], ids[60:], "history")
    equal((yield from deliveries(db, key, ids)), {2: 40}, "deliveries after reading again")
    nothing = read_of(key, (yield db.xreadgroup(GROUP, "nobody", {key: "0"})))
    equal(nothing, [], "history of a consumer that has none")
    equal((yield db.xgroup_delconsumer(key, GROUP, "nobody")), 0, "XGROUP DELCONSUMER")

    claimed = yield db.xclaim(key, GROUP, "bob", 0, ids[60:62])
    equal([fields["n"] for _, fields in claimed], ["60", "61"], "XCLAIM")
    equal((yield from deliveries(db, key, ids[60:62])), {3: 2}, "deliveries after XCLAIM")
    claimed = yield db.xclaim(key, GROUP, "bob", 0, ids[60:62], justid=True)
    equal(claimed, ids[60:62], "XCLAIM JUSTID")
    equal((yield from deliveries(db, key, ids[60:62])), {3: 2}, "deliveries after JUSTID")

    reply = yield db.xautoclaim(key, GROUP, "carol", 0, "0-0", count=10)
    equal(reply[0], ids[70], "cursor of XAUTOCLAIM")
    equal([entry_id for entry_id, _ in reply[1]], ids[60:70], "XAUTOCLAIM")
    equal((yield from deliveries(db, key, ids)), {4: 2, 3: 8, 2: 30}, "deliveries at last")


def look_around(db, key, ids):
    summary = yield db.xpending(key, GROUP)
    equal((summary["pending"], summary["min"], summary["max"]), (40, ids[60], ids[99]), "XPENDING")
    consumers = {row["name"]: row["pending"] for row in summary["consumers"]}
    equal(consumers, {"alice": 30, "carol": 10}, "consumers in XPENDING")
    rows = yield db.xpending_range(key, GROUP, "-", "+", 100, "carol")
    equal([row["message_id"] for row in rows], ids[60:70], "XPENDING of a consumer")

    info = yield db.xinfo_stream(key)
    facts = [info[name] for name in ("length", "groups", "entries-added", "last-generated-id")]
    equal(facts, [100, 1, 100, ids[99]], "XINFO STREAM")
    equal(info["first-entry"], (ids[0], {"n": "0", "kind": "order"}), "first entry")
    full = yield db.xinfo_stream(key, full=True)
    equal(full["groups"][0]["pel-count"], 40, "XINFO STREAM FULL")

    [group] = yield db.xinfo_groups(key)
    facts = [group[name] for name in ("name", "consumers", "pending", "last-delivered-id")]
    equal(facts, [GROUP, 3, 40, ids[99]], "XINFO GROUPS")
    equal((group["entries-read"], group["lag"]), (100, 0), "entries-read and lag")
    consumers = {row["name"]: row["pending"] for row in (yield db.xinfo_consumers(key, GROUP))}
    equal(consumers, {"alice": 30, "bob": 0, "carol": 10}, "XINFO CONSUMERS")


def wait_in_vain_and_be_woken(db, other, key, start):
    nothing = read_of(key, (yield db.xreadgroup(GROUP, "alice", {key: ">"}, block=10)))
    equal(nothing, [], "a wait in vain")

    before = (yield other.info("clients"))["blocked_clients"]
    read = start(lambda: db.xreadgroup(GROUP, "alice", {key: ">"}, count=1, block=4000))
    for _ in range(LOOKS_MAX):
        if (yield other.info("clients"))["blocked_clients"] > before:
            break
    else:
        sys.exit("the read never waited")
    woken = yield other.xadd(key, {"n": "woken"})
    equal(read_of(key, (yield read)), [(woken, {"n": "woken"})], "the read that was woken")


def deliveries(db, key, ids):
    """How many pending entries were delivered how often."""
    rows = yield db.xpending_range(key, GROUP, ids[0], ids[-1], 100)
    counts = [row["times_delivered"] for row in rows]
    return {count: counts.count(count) for count in counts}


def read_of(key, reply):
    """The entries of one stream, from each of the shapes that the versions give a read."""
    if not reply:
        return []
    if isinstance(reply, dict):
        [entries] = reply[key]
        return entries
    [[name, entries]] = reply
    equal(name, key, "stream read")
    return entries


def clients(module, options, choice):
    """The client that works, and the one that looks on and wakes it, at the node that has the key."""
    if choice != "cluster":
        return module.Redis(**options), module.Redis(**options)
    host, port = os.environ["CLIENTS_NODE"].rsplit(":", 1)
    other = module.Redis(host=host, port=int(port), decode_responses=True)
    return module.RedisCluster(**options), other


def drive(db, other):
    with concurrent.futures.ThreadPoolExecutor() as threads:
        steps = life_cycle(db, other, threads.submit, PROTOCOL)
        step, argument = steps.send, None
        try:
            while True:
                result = step(argument)
                if isinstance(result, concurrent.futures.Future):
                    result = result.result()
                step, argument = steps.send, result
        except StopIteration:
            pass


async def drive_async(options, choice):
    db, other = clients(library.asyncio, options, choice)
    steps = life_cycle(db, other, lambda call: asyncio.ensure_future(call()), PROTOCOL)
    step, argument = steps.send, None
    while True:
        try:
            result = step(argument)
        except StopIteration:
            return
        try:
            result = await result if inspect.isawaitable(result) else result
            step, argument = steps.send, result
        except library.RedisError as error:
            step, argument = steps.throw, error


if __name__ == "__main__":
    LIBRARY, address, manner, protocol, choice = sys.argv[1:]
    PROTOCOL = int(protocol)
    library = importlib.import_module(LIBRARY)
    importlib.import_module(f"{LIBRARY}.asyncio")
    host, port = address.rsplit(":", 1)
    options = {"host": host, "port": int(port), "decode_responses": True}
    if choice == "explicit":
        options["protocol"] = PROTOCOL
    if manner == "sync":
        drive(*clients(library, options, choice))
    else:
        asyncio.run(drive_async(options, choice))
