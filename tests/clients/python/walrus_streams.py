"""Streams, groups and time series with walrus: HOST:PORT.

walrus makes a group's streams by adding an entry and deleting it, and gives times instead of ids.
What it does with strings is here as well: counters, caches, bits, and a script that compares and sets.
"""

import datetime
import pickle
import sys

import walrus

from checks import equal
from checks import unused_key


def story(address):
    host, _, port = address.rpartition(":")
    db = walrus.Database(host=host, port=int(port))
    prefix = unused_key("walrus")
    one_stream(db, f"{prefix}:one")
    a_group(db, f"{prefix}:a", f"{prefix}:b")
    a_time_series(db, f"{prefix}:x", f"{prefix}:y")
    strings(db, prefix)
    db.delete(*db.keys(f"*{prefix}*"))
    db.close()


def one_stream(db, key):
    stream = db.Stream(key)
    ids = [stream.add({"n": n}) for n in range(100)]
    equal(len(stream), 100, "length")
    equal(stream[ids[3]], (ids[3], {b"n": b"3"}), "an entry")
    equal([entry[0] for entry in stream[ids[10]::5]], ids[10:15], "a slice")
    equal([entry[0] for entry in stream.revrange(count=3)], ids[:-4:-1], "from the end")
    equal([entry[0] for entry in stream.read(last_id=ids[96])], ids[97:], "read from an id on")
    del stream[ids[3], ids[4]]
    equal(stream.get(ids[3]), None, "a deleted entry")
    equal(stream.trim(10, approximate=False), 88, "trimmed")
    equal(stream.set_id("9999999999999-0"), True, "XSETID")
    equal(stream.add({"n": 100}, id="9999999999999-1"), b"9999999999999-1", "the id after that")
    equal(stream.info()["max-deleted-entry-id"], ids[4], "the last id that was deleted")


def a_group(db, *keys):
    alice = db.consumer_group("workers", keys, consumer="alice")
    equal(alice.create(), {key: True for key in keys}, "groups made")
    equal(alice.create(), {key: False for key in keys}, "groups made again")
    ids = {key: [db.Stream(key).add({"n": n}) for n in range(10)] for key in keys}

    read = {key.decode(): entries for key, entries in alice.read()}
    expected = {key: [(id, {b"n": b"%d" % n}) for n, id in enumerate(ids[key])] for key in keys}
    equal(read, expected, "entries of both streams")
    equal(alice.read(block=10), [], "a wait in vain")

    first, second = (alice.streams[key] for key in keys)
    equal(first.ack(*ids[keys[0]][:6]), 6, "acknowledged")
    equal([entry["message_id"] for entry in first.pending()], ids[keys[0]][6:], "pending")
    bob = alice.consumer("bob").streams[keys[0]]
    claimed = bob.claim(*ids[keys[0]][6:8], min_idle_time=0)
    equal([entry[0] for entry in claimed], ids[keys[0]][6:8], "claimed")
    equal([row["times_delivered"] for row in first.pending()], [2, 2, 1, 1], "deliveries")
    cursor, claimed, deleted = second.autoclaim("bob", 0, count=4)
    equal((cursor, len(claimed), deleted), (ids[keys[1]][4], 4, []), "claimed by itself")

    consumers = {row["name"]: row["pending"] for row in second.consumers_info()}
    equal(consumers, {b"alice": 6, b"bob": 4}, "consumers")
    equal(second.delete_consumer("bob"), 4, "what bob had pending")
    alice.reset()
    equal(len(second.read()), 10, "read again after the group was sent back")
    equal(alice.destroy(), {key: 1 for key in keys}, "groups destroyed")


def a_time_series(db, *keys):
    series = db.time_series("events", keys, consumer="alice")
    equal(list(series.create().values()), [True, True], "groups made")
    start = datetime.datetime(2026, 1, 1)
    minutes = [start + datetime.timedelta(minutes=n) for n in range(10)]
    x, y = (series.streams[key] for key in keys)
    for n, minute in enumerate(minutes):
        equal((x, y)[n % 2].add({"n": n}, id=minute), (minute, 0), "added at a minute")

    messages = series.read()
    equal([int(message.data["n"]) for message in messages], list(range(10)), "in order of time")
    equal([message.timestamp for message in messages], minutes, "times read")
    between = x.range(minutes[2], minutes[6])
    equal([int(message.data["n"]) for message in between], [2, 4, 6], "between two times")
    equal(y.get(minutes[3]).data, {"n": "3"}, "the message of a minute")
    equal(x.ack(*between), 3, "acknowledged by message")
    equal([row[0] for row in x.pending()], [(minutes[0], 0), (minutes[8], 0)], "pending")
    claimed = series.consumer("bob").streams[keys[0]].claim(minutes[8])
    equal([message.timestamp for message in claimed], [minutes[8]], "claimed by time")
    series.set_id(minutes[6])
    equal([int(message.data["n"]) for message in series.read()], [7, 8, 9], "after a time")
    equal(y.delete(minutes[3], minutes[5]), 2, "deleted by time")
    series.destroy()


def strings(db, prefix):
    counter = db.counter(prefix)
    counter += 5
    counter -= 2
    equal(counter.value(), 3, "a counter")

    cache = db.cache(f"{prefix}:cache", default_timeout=60)
    cache.set("one", {"deep": [1, 2]})
    cache.set_many({"two": 2, "three": 3})
    equal(cache.get("one"), {"deep": [1, 2]}, "what is cached")
    many = cache.get_many(["two", "three", "four"])
    equal(many, {"two": 2, "three": 3}, "what is cached of many")
    expected = [f"{prefix}:cache:{name}" for name in ("one", "two", "three")]
    equal(sorted(cache.keys()), sorted(expected), "keys of the cache")
    equal(pickle.loads(db.get(f"{prefix}:cache:two")), 2, "as it is kept")

    key = f"{prefix}:swap"
    db.set(key, "old value")
    equal(db.cas(key, "other", "new"), 0, "compared in vain")
    equal((db.cas(key, "old", "new"), db.get(key)), (1, b"new"), "compared and set")
    seen = db.bloom_filter(f"{prefix}:bloom")
    seen.add("apple")
    equal((seen.contains("apple"), seen.contains("pear")), (True, False), "a filter of bits")
    bits = db.bit_field(f"{prefix}:bits")
    equal(bits.incrby("u4", 0, 14).incrby("u4", 0, 3, "SAT").execute(), [14, 15], "a field of bits")
    with db.atomic() as transaction:
        transaction.pipe.incr(counter.key)
        transaction.pipe.incr(counter.key)
        equal(transaction.commit(), [4, 5], "a transaction")


story(sys.argv[1])
