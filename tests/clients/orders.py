#!/usr/bin/env python3
"""Do the example workers handle every order at least once and count it exactly once?

    tests/clients/orders.py --address HOST:PORT [--worker python|rust]

10,000 orders, some of them poison and some added twice, go through three worker processes. Two are
killed with SIGKILL while they have orders in hand: the first is started again and finds them in its
own history, the second stays dead and its peers claim them. Uses (and first deletes) the keys
`{orders}:*`.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

import installs

EXAMPLES = installs.ROOT / "examples"
REQUIREMENTS = (EXAMPLES / "python/requirements.txt").read_text().split()
sys.path.insert(0, str(installs.python_package(*REQUIREMENTS)))

import redis  # noqa: E402 (it lies in the cache, whose place is known only now)

STREAM = "{orders}:stream"
DEAD = "{orders}:dead"
GROUP = "shipping"

ORDERS = 10_000
LATE = 1_000  # Added only when the others are shipped, to workers that wait.
POISON_EVERY = 500
TWICE_EVERY = 100

KILL_FIRST_AT = 2_000  # Effects counted, of about 10,000.
KILL_SECOND_AT = 4_000
IN_HAND_MIN = 10

DELIVERIES_MAX = 5
CLAIM_AFTER_MS = 500
WAIT_SECONDS_MAX = 60


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--address", default="127.0.0.1:6379", help="HOST:PORT of the server")
    options.add_argument("--worker", choices=("python", "rust"), help="only this one")
    options = options.parse_args()

    failed = 0
    workers = [options.worker] if options.worker else ["python", "rust"]
    for worker in workers:
        try:
            Run(options.address, worker).run()
        except (AssertionError, redis.RedisError) as error:
            failed += 1
            print(f"orders, {worker} worker: FAILED: {error}")
    print(f"{len(workers) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


class Run:
    def __init__(self, address, worker):
        host, port = address.rsplit(":", 1)
        self.db = redis.Redis(host, int(port), decode_responses=True)
        self.address = address
        self.worker = worker
        self.command = command_of(worker)
        self.running = {}
        self.tallies = []
        self.events = []

    def run(self):
        self.forget()
        orders = make_orders()
        self.add(orders[:-LATE])
        with tempfile.TemporaryFile("w+") as self.log:
            try:
                seconds = self.work(orders)
                self.check(orders)
            except AssertionError as error:
                self.log.seek(0)
                raise AssertionError(f"{error}\n{self.log.read()[-4000:]}") from None
            finally:
                for process in self.running.values():
                    process.kill()
        self.report(orders, seconds)
        self.forget()

    def work(self, orders):
        """Has the orders shipped. Returns how long that took, without waiting for dead letters."""
        good = sum(not is_poison(order) for order in orders)
        late = sum(not is_poison(order) for order in orders[-LATE:])
        started = time.monotonic()
        for name in ("one", "two", "three"):
            self.start(name)

        self.until(lambda: self.shipped() >= KILL_FIRST_AT, "the first orders are shipped")
        self.kill("two")
        self.start("two")
        self.until(lambda: self.shipped() >= KILL_SECOND_AT, "more orders are shipped")
        self.kill("three")

        self.until(lambda: self.shipped() >= good - late, "all but the late orders are shipped")
        self.add(orders[-LATE:])
        self.until(lambda: self.shipped() >= good, "all orders are shipped")
        seconds = time.monotonic() - started

        poison = len(orders) - good
        self.until(lambda: self.db.xlen(DEAD) >= poison, "the dead letters are there")
        self.until(lambda: self.db.xpending(STREAM, GROUP)["pending"] == 0, "nothing is pending")
        for name in list(self.running):
            self.stop(name)
        return seconds

    def check(self, orders):
        good = [order for order in orders if not is_poison(order)]
        poison = sorted(order["order"] for order in orders if is_poison(order))
        entries = len(orders) + len(repeats(orders))

        done = self.db.mget(["{orders}:done:" + order["order"] for order in good])
        equal(done.count(None), 0, "orders never handled")
        equal(self.shipped(), len(good), "orders counted")
        revenue = int(self.db.get("{orders}:revenue"))
        equal(revenue, sum(order["cents"] for order in good), "revenue counted")

        [group] = self.db.xinfo_groups(STREAM)
        equal(group["pending"], 0, "pending")
        equal(group["entries-read"], entries, "entries-read")
        equal(group["lag"], 0, "lag")
        consumers = [consumer["name"] for consumer in self.db.xinfo_consumers(STREAM, GROUP)]
        equal(consumers, ["three"], "consumers left (the others took their leave)")

        letters = [letter for _id, letter in self.db.xrange(DEAD)]
        equal(sorted(letter["order"] for letter in letters), poison, "dead letters")
        # A worker that is held up while it buries a letter may find that a peer claimed it again.
        deliveries = [int(letter["deliveries"]) for letter in letters]
        equal(min(deliveries), DELIVERIES_MAX, "fewest deliveries of a dead letter")
        failed = sum(tally["failed"] for tally in self.tallies)
        assert failed <= DELIVERIES_MAX * len(poison), f"{failed} attempts on {len(poison)} orders"

    def report(self, orders, seconds):
        tally = {key: sum(one[key] for one in self.tallies) for key in self.tallies[0]}
        poison = sum(map(is_poison, orders))
        print(f"orders, {self.worker} worker, 3 processes, {self.address}: ok")
        for what, value, remark in (
            ("orders", len(orders), f"{poison} of them poison, {len(repeats(orders))} added twice"),
            ("counted", self.shipped(), "each exactly once"),
            ("orders/s", int(len(orders) / seconds), f"{seconds:.1f} s, both kills included"),
            *self.events,
            ("own history", tally["own"], "redelivered to the one that was started again"),
            ("claimed", tally["claimed"], "redelivered: in hand of the dead, or failed before"),
            ("repeated", tally["repeated"], "came again and were not counted again"),
            ("dead letters", poison, f"after {DELIVERIES_MAX} deliveries"),
        ):
            print(f"  {what:<14}{value:>7,}  {remark}")

    def forget(self):
        for keys in batches(list(self.db.scan_iter(match="{orders}:*", count=1000)), 1000):
            self.db.delete(*keys)

    def add(self, orders):
        for batch in batches(orders + repeats(orders), 500):
            with self.db.pipeline(transaction=False) as calls:
                for order in batch:
                    calls.xadd(STREAM, order)
                calls.execute()

    def shipped(self):
        return int(self.db.get("{orders}:shipped") or 0)

    def start(self, name):
        self.running[name] = subprocess.Popen(
            [*self.command, name, self.address, str(CLAIM_AFTER_MS)],
            env={**os.environ, "PYTHONPATH": sys.path[0]},
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def kill(self, name):
        """Kills a worker that has entries in hand, for sure: it is frozen while we look."""
        process = self.running[name]

        def has_entries_in_hand():
            process.send_signal(signal.SIGSTOP)
            if len(self.pending_of(name)) >= IN_HAND_MIN:
                return True
            process.send_signal(signal.SIGCONT)
            return False

        self.until(has_entries_in_hand, f"{name} has entries in hand")
        process.kill()
        process.wait()
        del self.running[name]
        in_hand = len(self.pending_of(name))
        self.events.append((f"killed {name}", in_hand, f"in hand, at {self.shipped():,} counted"))

    def pending_of(self, name):
        return self.db.xpending_range(STREAM, GROUP, "-", "+", 1000, name)

    def stop(self, name):
        process = self.running.pop(name)
        process.terminate()
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{name} did not stop on SIGTERM") from None
        equal(process.returncode, 0, f"exit status of {name}")
        words = [word.split("=") for word in output.split()[1:]]
        self.tallies.append({key: int(value) for key, value in words})

    def until(self, condition, what):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain until {what}"
            for name, process in self.running.items():
                assert process.poll() is None, f"{name} ended by itself, before {what}"
            # Nobody writes there: a short wait that the server times.
            self.db.xread({"{orders}:nothing": "$"}, block=2)


def command_of(worker):
    if worker == "python":
        return [sys.executable, EXAMPLES / "python/worker.py"]
    return [installs.rust_binary("examples/rust", "worker", profile="release")]


def make_orders():
    return [
        {"order": f"order-{n}", "cents": "unknown" if n % POISON_EVERY == 0 else 100 + n % 900}
        for n in range(1, ORDERS + 1)
    ]


def is_poison(order):
    return order["cents"] == "unknown"


def repeats(orders):
    """Those that are added twice, as by a producer that missed a reply."""
    return [order for order in orders[::TWICE_EVERY] if not is_poison(order)]


def batches(items, size):
    return (items[start : start + size] for start in range(0, len(items), size))


def equal(actual, expected, what):
    assert actual == expected, f"{what}: {actual!r}, expected {expected!r}"


if __name__ == "__main__":
    main()
