"""What a test holds of a server: `TESTDOUBLE`, with types."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ._wire import Connection, Reply, ServerError, Word, array, fields, number, text

if TYPE_CHECKING:
    from ._space import Space

Amount: TypeAlias = "int | str"
"""How a number is to be: 3, or ">= 3" and the like."""


class ConditionFailed(AssertionError):
    """Something does not hold. The text says what is the case instead."""


@dataclass(frozen=True)
class Clock:
    """How the clock goes, and what it brings. Times are milliseconds since 1970."""

    mode: str
    now: int
    next: int | None
    timers: int
    blocked: int


@dataclass(frozen=True)
class Call:
    """What a client asked, and what it heard, as it stood on the wire."""

    number: int
    time: int
    client: int
    client_name: str
    command: list[bytes]
    reply: bytes
    fault: str | None


class Fault:
    """A fault that was put in."""

    def __init__(self, td: TestDouble, name: str) -> None:
        self._td = td
        self.name = name

    @property
    def hits(self) -> int:
        """How often it struck."""
        return number(self._td.execute("FAULT", "HITS", self.name))

    def release(self, count: int | None = None) -> int:
        """Lets go what it keeps back, the first that came first. Gives how much that was."""
        return number(self._td.execute("RELEASE", self.name, *([] if count is None else [count])))

    def remove(self) -> None:
        """Takes it out, and lets go what it keeps back."""
        self._td.execute("FAULT", "DEL", self.name)


class TestDouble:
    """The clock, faults, waits, calls and promises of one space. Streams and groups are those of database 0."""

    __test__ = False  # It is no class of tests.

    def __init__(self, space: Space) -> None:
        self._space = space
        self._connection: Connection | None = None
        self._numbers = itertools.count(1)

    def execute(self, *words: Word) -> Reply:
        """`TESTDOUBLE` with these words, for what has no method here."""
        if self._connection is None:
            self._connection = self._space.connect()
        return self._connection.execute("TD", *words)

    def execute_all(self, *commands: tuple[Word, ...]) -> None:
        """Several of them at once."""
        if self._connection is None:
            self._connection = self._space.connect()
        self._connection.execute_all(*(("TD", *words) for words in commands))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # The clock.

    @property
    def clock(self) -> Clock:
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

    def skew(self, ms: int) -> int:
        """Turns the wall clock alone, backwards if negative."""
        return number(self.execute("CLOCK", "SKEW", ms))

    def advance(self, ms: int) -> int:
        """Moves the clock. Everything that became due on the way has happened when this returns."""
        return number(self.execute("CLOCK", "ADVANCE", ms))

    def advance_to(self, at: int) -> int:
        return number(self.execute("CLOCK", "TO", at))

    def next_deadline(self, count: int = 1) -> int:
        """Moves the clock to what is due next, so many times."""
        return number(self.execute("CLOCK", "NEXT", count))

    def run(self, ms: int, *, settle: int = 0, timeout: float = 5.0) -> int:
        """Moves the clock from deadline to deadline, each time once so many clients wait again."""
        return number(self.execute("CLOCK", "RUN", ms, "SETTLE", settle, _ms(timeout)))

    # Faults.

    def fault(
        self,
        command: str | None = None,
        *,
        before: str | None = None,
        after: str | None = None,
        times: int | None = 1,
        skip: int = 0,
        probability: float = 1.0,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        client: str | None = None,
        name: str | None = None,
    ) -> Fault:
        """Lets something happen to calls that match: `fault("XACK", after="close")`.

        `before` the command is executed, and then it is not, or `after`, in place of its reply. What happens is
        written as in `TD FAULT HELP`: "close", "rst", "nil", "loading", "error OOM too much", "delay 4000", "hold".
        `times=None` is always.
        """
        happens = before or after
        if happens is None or (before and after):
            raise TypeError("a fault strikes either before= or after= the command")
        name = name or f"fault-{next(self._numbers)}"
        words: list[Word] = ["FAULT", "ADD", name, "CMD", command or "*"]
        filters = {"KEY": key, "GROUP": group, "CONSUMER": consumer, "CLIENT": client}
        for word, value in filters.items():
            words += [] if value is None else [word, value]
        words += ["SKIP", skip, "PROB", probability]
        words += ["ALWAYS"] if times is None else ["TIMES", times]
        words += ["BEFORE" if before else "AFTER", *_happening(happens)]
        self.execute(*words)
        return Fault(self, name)

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

    # Waiting for something, and insisting on it.

    def wait(self, *condition: Word, timeout: float = 5.0) -> None:
        """Waits until a condition of `TD WAIT HELP` holds, by the host's clock."""
        __tracebackhide__ = True
        self._judge("WAIT", *condition, "TIMEOUT", _ms(timeout))

    def check(self, *condition: Word) -> None:
        """Insists that a condition holds now."""
        __tracebackhide__ = True
        self._judge("ASSERT", *condition)

    def wait_blocked(
        self,
        clients: Amount,
        *,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        """Waits until so many clients wait for something."""
        __tracebackhide__ = True
        words: list[Word] = ["BLOCKED", *_amount(clients)]
        for word, value in {"KEY": key, "GROUP": group, "CONSUMER": consumer}.items():
            words += [] if value is None else [word, value]
        self.wait(*words, timeout=timeout)

    def wait_drained(self, stream: str, group: str, *, timeout: float = 5.0) -> None:
        """Waits until a group has read all and acknowledged all."""
        __tracebackhide__ = True
        self.wait("DRAINED", stream, group, timeout=timeout)

    def wait_pending(self, stream: str, group: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until so many entries are pending."""
        __tracebackhide__ = True
        self.wait("PENDING", stream, group, *_amount(entries), timeout=timeout)

    def wait_lag(self, stream: str, group: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until so many entries are still to be read."""
        __tracebackhide__ = True
        self.wait("LAG", stream, group, *_amount(entries), timeout=timeout)

    def wait_len(self, stream: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until a stream has so many entries."""
        __tracebackhide__ = True
        self.wait("LEN", stream, *_amount(entries), timeout=timeout)

    def wait_held(self, fault: Fault | str, calls: Amount = 1, *, timeout: float = 5.0) -> None:
        """Waits until a fault keeps back so much."""
        __tracebackhide__ = True
        name = fault.name if isinstance(fault, Fault) else fault
        self.wait("HELD", name, *_amount(calls), timeout=timeout)

    def wait_idle(self, *, timeout: float = 5.0) -> None:
        """Waits until nothing is left to do: no command is kept back, and none waits for its turn."""
        __tracebackhide__ = True
        self.wait("IDLE", timeout=timeout)

    def assert_drained(self, stream: str, group: str) -> None:
        """A group has read all and acknowledged all."""
        __tracebackhide__ = True
        self.check("DRAINED", stream, group)

    def assert_pending(self, stream: str, group: str, entries: Amount) -> None:
        """So many entries are pending."""
        __tracebackhide__ = True
        self.check("PENDING", stream, group, *_amount(entries))

    def assert_len(self, stream: str, entries: Amount) -> None:
        """A stream has so many entries."""
        __tracebackhide__ = True
        self.check("LEN", stream, *_amount(entries))

    def assert_at_least_once(self, stream: str, group: str) -> None:
        """Each entry was delivered, and acknowledged since by somebody it was delivered to."""
        __tracebackhide__ = True
        self.check("AT-LEAST-ONCE", stream, group)

    def assert_exactly_once(self, stream: str, group: str) -> None:
        """Each entry was delivered once, and acknowledged likewise."""
        __tracebackhide__ = True
        self.check("EXACTLY-ONCE", stream, group)

    def assert_no_loss(self, stream: str, group: str) -> None:
        """No entry was trimmed or deleted before it was delivered."""
        __tracebackhide__ = True
        self.check("NO-LOSS", stream, group)

    def assert_no_leak(self, stream: str, group: str) -> None:
        """No entry is pending or was dropped, and nobody acknowledged what was not delivered to it."""
        __tracebackhide__ = True
        self.check("NO-LEAK", stream, group)

    # What happened.

    def calls(
        self,
        command: str | None = None,
        *,
        client: str | None = None,
        key: str | None = None,
        group: str | None = None,
        errors: bool = False,
        limit: int | None = None,
    ) -> list[Call]:
        """What clients asked, and what they heard, the oldest first; `limit` gives the last so many."""
        words: list[Word] = ["CALLS"]
        for word, value in {"CMD": command, "CLIENT": client, "KEY": key, "GROUP": group, "LIMIT": limit}.items():
            words += [] if value is None else [word, value]
        words += ["ERRORS"] if errors else []
        return [_call(known) for known in array(self.execute(*words))]

    def ledger(self, stream: str, group: str) -> dict[str, Reply]:
        """The sums of what was delivered and acknowledged."""
        for connection in self._nodes():
            try:
                known = fields(connection.execute("TD", "LEDGER", stream, group))
                known["consumers"] = None
                return known
            except ServerError as error:
                reason = error
            finally:
                connection.close()
        raise ConditionFailed(_reason(reason))

    def _judge(self, *words: Word) -> None:
        __tracebackhide__ = True
        try:
            self.execute(*words)
        except ServerError as error:
            reason = _reason(error)
        else:
            return
        raise ConditionFailed(reason)

    def _nodes(self) -> list[Connection]:
        return [Connection(host, port) for host, port in self._space.nodes]


def _amount(amount: Amount) -> list[Word]:
    if isinstance(amount, int):
        return [amount]
    words: list[Word] = [*amount.split()]
    if len(words) != 2:
        raise ValueError(f'{amount!r} is no amount; write 3 or ">= 3"')
    return words


def _happening(happens: str) -> list[Word]:
    what, _, rest = happens.partition(" ")
    if what.lower() in ("error", "reply"):
        return [what, rest]
    return [what, *rest.split()]


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)


def _reason(error: ServerError) -> str:
    return str(error).removeprefix("ERR ")


def _call(reply: Reply) -> Call:
    known = fields(reply)
    fault, heard = known["fault"], known["reply"]
    words = (word for word in array(known["call"]) if isinstance(word, bytes))
    return Call(
        number=number(known["number"]),
        time=number(known["time"]),
        client=number(known["client"]),
        client_name=text(known["name"]),
        command=list(words),
        reply=heard if isinstance(heard, bytes) else b"",
        fault=None if fault is None else text(fault),
    )
