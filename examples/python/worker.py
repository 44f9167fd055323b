#!/usr/bin/env python3
"""A worker that ships orders from a stream. Start it once per consumer, each with its own name:

    python worker.py NAME [HOST:PORT [CLAIM_AFTER_MS]]

A name must outlive the process (a host name, a pod's ordinal): by its name a worker that was killed
finds what it had in hand. The process ends when it cannot reach the server any more; let whatever
supervises it start it again, under the same name.

Every order is handled at least once, and its effect is counted exactly once. How:

- An entry stays pending until it is acknowledged. Whoever dies with entries in hand leaves them
  pending; the next process of that name, or else a peer, gets them again. That is "at least once".
- So an order can come twice: redelivered, claimed while its owner was merely slow, or added twice by
  a producer that missed a reply. `Worker.once` makes the second time harmless. It sets a key named
  after the order, applies the effect, and acknowledges, all in one transaction:

    * set the key first and apply the effect after: a crash between the two loses the effect;
    * apply the effect first and set the key after: a crash between the two counts it twice;
    * both in one MULTI/EXEC: a crash leaves both or neither. WATCH on the key makes EXEC fail if a
      peer set it since we looked, so two workers with the same order cannot both apply it.

  This holds for effects inside this server. For one outside of it (a payment, a mail) hand the
  order's id to the other side as its idempotency key, before `once`, and let it refuse the second.
- An order that fails stays pending and is tried again. After five deliveries it goes to a
  dead-letter stream, where somebody can look at it without it holding up anybody.
"""

import argparse
import logging
import signal
import time

import redis

# The braces keep all keys in one hash slot, so that the transaction works on a cluster as well.
STREAM = "{orders}:stream"
DEAD = "{orders}:dead"
SHIPPED = "{orders}:shipped"
REVENUE = "{orders}:revenue"
GROUP = "shipping"

DELIVERIES_MAX = 5
BATCH = 50
BLOCK_MS = 1000  # Bounds how long a stop takes while there is nothing to do.
REMEMBER_SECONDS = 7 * 24 * 3600  # Longer than an order can possibly be in flight.

log = logging.getLogger("worker")


def ship(order):
    """Does the work. Returns the effect, a function that adds commands to a transaction.

    Raises if the order cannot be shipped (now); it is then tried again later.
    """
    cents = int(order["cents"])

    def effect(transaction):
        transaction.incr(SHIPPED)
        transaction.incrby(REVENUE, cents)

    return effect


class Worker:
    def __init__(self, db, name, claim_after_ms):
        """Entries that are pending for `claim_after_ms` are taken from their consumer.

        That must be longer than a batch takes, or a worker that is merely slow loses its entries to
        a peer. (Nothing breaks, but the work is done twice.)
        """
        self.db = db
        self.name = name
        self.claim_after_ms = claim_after_ms
        self.stopping = False
        self.tally = dict.fromkeys(("shipped", "repeated", "failed", "own", "claimed", "dead"), 0)

    def stop(self, *_signal):
        """Asks `run` to finish what is in hand and return. Safe in a signal handler."""
        self.stopping = True

    def run(self):
        self.join()
        self.recover_own()
        claim_at = time.monotonic()
        while not self.stopping:
            if time.monotonic() >= claim_at:
                self.recover_from_peers()
                claim_at = time.monotonic() + self.claim_after_ms / 1000
            for entry_id, order in self.read(">", block=min(BLOCK_MS, self.claim_after_ms)):
                self.handle(entry_id, order)
        self.leave()

    def join(self):
        try:
            self.db.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        except redis.ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def recover_own(self):
        """Handles what a process of this name had in hand when it died."""
        last = "0"
        while entries := self.read(last):
            self.tally["own"] += len(entries)
            self.handle_again(entries)
            last = entries[-1][0]  # Not "0" again: what failed is still pending and would come back.

    def recover_from_peers(self):
        """Takes over what has been pending for too long: of dead peers, and what failed before."""
        cursor = "0-0"
        while not self.stopping:
            cursor, entries, _deleted = self.db.xautoclaim(
                STREAM, GROUP, self.name, self.claim_after_ms, cursor, count=BATCH
            )
            self.tally["claimed"] += len(entries)
            self.handle_again(entries)
            if cursor == "0-0":
                return

    def leave(self):
        """Removes this consumer, unless that would drop entries that are still pending for it."""
        if not self.db.xpending_range(STREAM, GROUP, "-", "+", 1, self.name):
            self.db.xgroup_delconsumer(STREAM, GROUP, self.name)

    def read(self, after, block=None):
        """New entries for ">", else this consumer's pending entries after that id."""
        reply = self.db.xreadgroup(GROUP, self.name, {STREAM: after}, count=BATCH, block=block)
        return reply[0][1] if reply else []  # One stream was asked for.

    def handle(self, entry_id, order):
        try:
            done = "{orders}:done:" + order["order"]
            effect = ship(order)
        except Exception as error:
            log.warning("%s: entry %s failed: %r", self.name, entry_id, error)
            self.tally["failed"] += 1
            return  # Still pending, so it will be claimed again.
        self.tally["shipped" if self.once(done, entry_id, effect) else "repeated"] += 1

    def handle_again(self, entries):
        """Handles redelivered entries, except those that have failed too often."""
        with self.db.pipeline(transaction=False) as calls:
            for entry_id, _order in entries:
                calls.xpending_range(STREAM, GROUP, entry_id, entry_id, 1)
            pending = calls.execute()
        for (entry_id, order), rows in zip(entries, pending):
            # The count includes the redelivery that has just brought the entry here.
            deliveries = rows[0]["times_delivered"] - 1 if rows else 0
            if not order:
                self.db.xack(STREAM, GROUP, entry_id)  # Trimmed while pending: nothing left to do.
            elif deliveries >= DELIVERIES_MAX:
                self.bury(entry_id, order, deliveries)
            else:
                self.handle(entry_id, order)

    def bury(self, entry_id, order, deliveries):
        """Moves an entry to the dead-letter stream, once even if two workers try."""
        letter = {**order, "entry": entry_id, "deliveries": deliveries}
        if self.once("{orders}:buried:" + entry_id, entry_id, lambda tx: tx.xadd(DEAD, letter)):
            log.error("%s: entry %s is a dead letter now", self.name, entry_id)
            self.tally["dead"] += 1

    def once(self, key, entry_id, effect):
        """Applies `effect`, sets `key` and acknowledges, all or nothing. False if `key` was set."""
        with self.db.pipeline() as transaction:
            while True:
                try:
                    transaction.watch(key)
                    if transaction.exists(key):
                        self.db.xack(STREAM, GROUP, entry_id)
                        return False
                    transaction.multi()
                    transaction.set(key, self.name, nx=True, ex=REMEMBER_SECONDS)
                    effect(transaction)
                    transaction.xack(STREAM, GROUP, entry_id)
                    transaction.execute()
                    return True
                except redis.WatchError:
                    continue  # A peer was faster, or the connection was lost: look again.


def main():
    options = argparse.ArgumentParser(description="Ships orders from a stream.")
    options.add_argument("name", help="this consumer's name; the same after a restart")
    options.add_argument("address", nargs="?", default="127.0.0.1:6379", help="HOST:PORT")
    options.add_argument(
        "claim_after_ms",
        nargs="?",
        type=int,
        default=30_000,
        help="entries that are pending for longer are taken from their consumer",
    )
    options = options.parse_args()

    logging.basicConfig(format="%(message)s")
    host, port = options.address.rsplit(":", 1)
    db = redis.Redis(host, int(port), decode_responses=True)
    worker = Worker(db, options.name, options.claim_after_ms)
    signal.signal(signal.SIGTERM, worker.stop)
    signal.signal(signal.SIGINT, worker.stop)
    worker.run()
    print(options.name, *(f"{what}={count}" for what, count in worker.tally.items()), flush=True)


if __name__ == "__main__":
    main()
