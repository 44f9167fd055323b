"""Client-side caching with redis-py: HOST:PORT.

What the client has cached it does not ask the server for again; once somebody has changed it, it does.
"""

import sys

import redis
from redis.cache import CacheConfig

from checks import equal
from checks import unused_key


def main(address):
    host, _, port = address.rpartition(":")
    with redis.Redis(host=host, port=int(port), decode_responses=True) as writer:
        # This client keeps a cache only of what says that it is Redis.
        compat = writer.config_get("compat")
        if compat:
            writer.config_set("compat", "redis")
        try:
            read_what_others_change(host, int(port), writer)
        finally:
            if compat:
                writer.config_set("compat", compat["compat"])


def read_what_others_change(host, port, writer):
    options = {"host": host, "port": port, "protocol": 3, "decode_responses": True}
    with redis.Redis(**options, cache_config=CacheConfig()) as reader:
        key, stream = unused_key("caching"), unused_key("caching")
        equal(reader.client_trackinginfo()["flags"], ["on"], "CLIENT TRACKINGINFO")

        for value in ("one", "two"):
            writer.set(key, value)
            before = calls(writer, "get")
            equal([reader.get(key) for _ in range(3)], [value] * 3, "GET")
            equal(calls(writer, "get") - before, 1, "how often it asked")

        for count in (1, 2):
            writer.xadd(stream, {"n": count})
            before = calls(writer, "xrange")
            equal([len(reader.xrange(stream)) for _ in range(3)], [count] * 3, "XRANGE")
            equal(calls(writer, "xrange") - before, 1, "how often it asked")

        equal(reader.set(key, "own"), True, "SET")
        equal(reader.get(key), "own", "GET of what it changed itself")
        equal(writer.delete(key, stream), 2, "DEL")
        equal(reader.get(key), None, "GET of what is gone")


def calls(client, command):
    """How often the server was asked."""
    return client.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
