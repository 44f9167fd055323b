"""What a test holds of a server: `TESTDOUBLE`, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._caller import to_ms
from ._conditions import Conditions
from ._data import Data
from ._faults import Faults
from ._wire import Word, fields, number, text

Fate: TypeAlias = Literal["keep", "lose", "lose-groups"]
"""What becomes of data in a restart."""


@dataclass(frozen=True)
class Clock:
    """How the clock goes, and what it brings. Times are milliseconds since 1970."""

    mode: str
    now: int
    next: int | None
    timers: int
    blocked: int


class TestDouble(Faults, Conditions, Data):
    """The clock, faults, waits, calls, promises and snapshots of a space. Streams and groups are of database 0."""

    __test__ = False  # It is no class of tests.

    # The clock. Times are milliseconds; what moves it gives what it shows then.

    @property
    def clock(self) -> Clock:
        """How it goes, and what it brings."""
        known = fields(self.execute("CLOCK"))
        due = known["next"]
        return Clock(
            mode=text(known["mode"]),
            now=number(known["now"]),
            next=None if due is None else number(due),
            timers=number(known["timers"]),
            blocked=number(known["blocked"]),
        )

    @property
    def now(self) -> int:
        """What it shows, in milliseconds since 1970."""
        return self.clock.now

    def freeze(self, at: int | None = None) -> int:
        """Lets the clock stand still, where it is or at a time."""
        return number(self.execute("CLOCK", "FREEZE", *([] if at is None else [at])))

    def real(self) -> int:
        """Lets the clock go as the host's, and show the same."""
        return number(self.execute("CLOCK", "REAL"))

    def scale(self, factor: float) -> int:
        """Lets the clock go so many times as fast."""
        return number(self.execute("CLOCK", "SCALE", factor))

    def auto(self, clients: int) -> int:
        """Freezes the clock, and moves it to what is due next whenever so many clients wait."""
        return number(self.execute("CLOCK", "AUTO", clients))

    def tick(self, ms: int) -> int:
        """Freezes the clock, and lets each command of a client move it by so much when it comes."""
        return number(self.execute("CLOCK", "TICK", ms))

    def skew(self, ms: int) -> int:
        """Turns the wall clock alone, backwards if negative."""
        return number(self.execute("CLOCK", "SKEW", ms))

    def advance(self, ms: int) -> int:
        """Moves the clock. Everything that became due on the way has happened when this returns."""
        return number(self.execute("CLOCK", "ADVANCE", ms))

    def advance_to(self, at: int) -> int:
        """Moves the clock to a time."""
        return number(self.execute("CLOCK", "TO", at))

    def next_deadline(self, count: int = 1) -> int:
        """Moves the clock to what is due next, so many times."""
        return number(self.execute("CLOCK", "NEXT", count))

    def run(self, ms: int, *, settle: int = 0, timeout: float = 5.0) -> int:
        """Moves the clock from deadline to deadline, each time once so many clients wait again."""
        return number(self.execute("CLOCK", "RUN", ms, "SETTLE", settle, to_ms(timeout)))

    # Ends of all kinds.

    def kill_client(self, client: str | int) -> int:
        """Closes the clients of this name, or the one of this number, at once. Gives how many."""
        return number(self.execute("KILL", "CLIENT", client))

    def kill_consumer(self, stream: str, group: str, consumer: str) -> int:
        """Closes the clients that read as this consumer last; what it has pending stays. Gives how many."""
        return number(self.execute("KILL", "CONSUMER", stream, group, consumer))

    def pause(self) -> None:
        """Stops the whole server, as a host does that hangs."""
        self.execute("PAUSE")

    def resume(self) -> None:
        """Lets it go on. What had become due has happened when this returns."""
        self.execute("RESUME")

    def restart(self, data: Fate = "keep", *, down: int = 0, loading: int = 0) -> None:
        """Restarts the server as its clients see it: all connections but this end, and what CONFIG SET changed is lost.

        For `down` ms of the test's clock it takes none, and for `loading` ms more commands hear that it loads. Data are
        kept, or lost ("lose"), or the groups are ("lose-groups"). Of a cluster it is the first node.
        """
        self.execute("RESTART", data, "DOWN", down, "LOADING", loading)

    # A cluster. Nodes go by their number, from 0, or their id; slots by their number or a key.

    def cluster_move(self, slot: Word, node: Word) -> None:
        """Gives a slot with its keys to a node, at once for everybody."""
        self.execute("CLUSTER", "MOVE", slot, node)

    def cluster_migrate(self, slot: Word, node: Word) -> None:
        """Lets a slot be on its way to a node: clients meet ASK and TRYAGAIN."""
        self.execute("CLUSTER", "MIGRATE", slot, node)

    def cluster_migrate_end(self, slot: Word) -> None:
        """Lets a slot that is on its way arrive, with all its keys."""
        self.execute("CLUSTER", "MIGRATE", slot, "END")

    def cluster_migrate_cancel(self, slot: Word) -> None:
        """Lets a slot that is on its way stay, with all its keys."""
        self.execute("CLUSTER", "MIGRATE", slot, "CANCEL")

    def cluster_failover(self, node: Word) -> None:
        """Lets a replica take its primary's place; of a primary, its first replica does."""
        self.execute("CLUSTER", "FAILOVER", node)

    def cluster_kill(self, node: Word) -> None:
        """Takes a node down: others show it as failed, until `cluster_revive`."""
        self.execute("CLUSTER", "KILL", node)

    def cluster_revive(self, node: Word) -> None:
        """Brings a node back, with its data."""
        self.execute("CLUSTER", "REVIVE", node)

    def cluster_stale(self, node: Word, is_stale: bool = True) -> None:
        """Lets a node go on with what it knows of the cluster, or learn what is the case."""
        self.execute("CLUSTER", "STALE", node, *([] if is_stale else ["OFF"]))
