#!/usr/bin/env python3
"""Adds orders to the stream that the workers read: `python producer.py COUNT [HOST:PORT]`."""

import argparse

import redis

from worker import STREAM


def main():
    options = argparse.ArgumentParser(description="Adds orders to the stream of the workers.")
    options.add_argument("count", type=int, help="how many")
    options.add_argument("address", nargs="?", default="127.0.0.1:6379", help="HOST:PORT")
    options = options.parse_args()

    host, port = options.address.rsplit(":", 1)
    db = redis.Redis(host, int(port), decode_responses=True)
    for number in range(1, options.count + 1):
        # The id is the order's own, not the entry's: should this call be repeated because its reply
        # was lost, both entries carry the same id and the order is still counted once.
        db.xadd(STREAM, {"order": f"order-{number}", "cents": 100 + number % 900})
    print(f"{options.count} orders added")


if __name__ == "__main__":
    main()
