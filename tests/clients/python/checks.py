"""What the Python life cycles share."""

import os
import sys


def equal(actual, expected, what):
    """Fails unless both are equal. Not an assert statement, which python -O would drop."""
    if actual != expected:
        sys.exit(f"{what}: got {actual!r}, expected {expected!r}")


def unused_key(client):
    """A key that no other run uses, so that runs do not meet on a server that they share.

    In a cluster it is given, together with the address of the node that has it.
    """
    if "CLIENTS_KEY" in os.environ:
        return os.environ["CLIENTS_KEY"]
    return f"clients:{client}:{os.getpid()}:{os.urandom(4).hex()}"


def blocked_clients(info):
    """Reads the number of waiting clients from the text of INFO."""
    [line] = [line for line in info.splitlines() if line.startswith("blocked_clients:")]
    return int(line.partition(":")[2])


async def until(expected, read, what):
    """Returns when `read` says that, after a bounded number of round trips."""
    for _ in range(LOOKS_MAX):
        actual = await read()
        if actual == expected:
            return
    equal(actual, expected, what)


async def until_heard(db, channels):
    """Returns when each of these channels has a subscriber: libraries do not wait for that."""
    read = lambda: db.pubsub_numsub(*channels)  # noqa: E731
    await until([(channel.encode(), 1) for channel in channels], read, "subscribers")


# How often the second connection looks whether the first one waits. Each look is a round trip.
LOOKS_MAX = 20_000
