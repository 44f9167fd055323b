#!/usr/bin/env python3
"""Adds orders to the stream that the workers read: `python producer.py COUNT [HOST:PORT]`."""

import sys

import redis

from worker import STREAM


def main():
    count = int(sys.argv[1])
    host, port = (sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:6379").rsplit(":", 1)
    db = redis.Redis(host, int(port), decode_responses=True)
    for number in range(1, count + 1):
        # The id is the order's own, not the entry's: should this call be repeated because its reply
        # was lost, both entries carry the same id and the order is still counted once.
        db.xadd(STREAM, {"order": f"order-{number}", "cents": 100 + number % 900})
    print(f"{count} orders added")


if __name__ == "__main__":
    main()
