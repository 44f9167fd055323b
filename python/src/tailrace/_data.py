"""What happened, and all data: calls, the ledger, snapshots."""

from __future__ import annotations

from dataclasses import dataclass

from ._caller import Caller
from ._conditions import call_words
from ._wire import Reply, Word, array, fields, number, text


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


@dataclass(frozen=True)
class ConsumerSums:
    """What became of the entries that a consumer got, each counted as often as it did."""

    deliveries: int
    acks: int
    pending: int


@dataclass(frozen=True)
class LedgerSums:
    """What became of the entries of a group."""

    added: int
    delivered_once: int
    redelivered: int
    acked: int
    acked_undelivered: int
    unacked: int
    pending: int
    never_delivered: int
    lost: int
    most_deliveries: int
    forgotten: int
    consumers: dict[str, ConsumerSums]


@dataclass(frozen=True)
class Snapshot:
    """What was kept under a name."""

    name: str
    clock: str
    keys: int
    bytes: int


class Data(Caller):
    """What there is and what happened, of all nodes if it is a cluster."""

    def calls(
        self,
        command: str | None = None,
        *,
        client: str | None = None,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        node: int | None = None,
        errors: bool = False,
        since: int | None = None,
        limit: int | None = None,
    ) -> list[Call]:
        """What clients asked, and what they heard, the oldest first.

        `since` gives those with greater numbers, `limit` the last so many.
        """
        words = call_words(command, client, key, group, consumer, node, errors)
        words += [] if since is None else ["SINCE", since]
        words += [] if limit is None else ["LIMIT", limit]
        return [_call(known) for known in array(self.execute("CALLS", *words))]

    def count_calls(
        self,
        command: str | None = None,
        *,
        client: str | None = None,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        node: int | None = None,
        errors: bool = False,
    ) -> int:
        """How many such calls there were."""
        words = call_words(command, client, key, group, consumer, node, errors)
        return number(self.execute("CALLS", "COUNT", *words))

    def clear_calls(self) -> None:
        """Forgets all calls."""
        self.execute("CALLS", "CLEAR")

    def unsupported(self) -> dict[str, int]:
        """The commands that clients asked for and that there are not, with how often they did."""
        return {name: number(count) for name, count in fields(self.execute("CALLS", "UNSUPPORTED")).items()}

    def ledger(self, stream: str, group: str) -> LedgerSums:
        """The sums of what was delivered and acknowledged."""
        known = fields(self.execute("LEDGER", stream, group))
        consumers = {name: _consumer(sums) for name, sums in fields(known.pop("consumers")).items()}
        sums = {name.replace("-", "_"): number(count) for name, count in known.items()}
        return LedgerSums(consumers=consumers, **sums)

    def ledger_history(self, stream: str, group: str, entry: str) -> list[str]:
        """All that is known of an entry: a line for each life of the stream that had its ID."""
        return [text(line) for line in array(self.execute("LEDGER", stream, group, entry))]

    def ledger_worked(self, stream: str, group: str, *entries: str) -> int:
        """Notes that the work of entries is done. Gives how many of them the group knows."""
        return number(self.execute("LEDGER", "WORKED", stream, group, *entries))

    def ledger_on(self, stream: str | None = None) -> None:
        """Begins, anew, to note what becomes of the entries of all streams or of one."""
        self.execute("LEDGER", "ON", *_named(stream))

    def ledger_off(self, stream: str | None = None) -> None:
        """Ends that."""
        self.execute("LEDGER", "OFF", *_named(stream))

    def save(self, name: str) -> None:
        """Keeps all data and the clock under a name."""
        self.execute("SNAPSHOT", "SAVE", name)

    def restore(self, name: str) -> None:
        """Goes back to what was kept under a name, as often as one likes. Connections stay."""
        self.execute("SNAPSHOT", "RESTORE", name)

    def drop(self, name: str) -> None:
        """Forgets what was kept under a name."""
        self.execute("SNAPSHOT", "DROP", name)

    def snapshots(self) -> list[Snapshot]:
        """What is kept."""
        return [_snapshot(known) for known in array(self.execute("SNAPSHOT", "LIST"))]

    def state(self, *keys: str) -> str:
        """All data, or those of some keys, as lines for golden files."""
        return text(self.execute("STATE", *keys))

    def diff(self, one: str, other: str = "NOW") -> str:
        """The lines in which what was kept under a name differs from what is there now, or was kept under another."""
        return text(self.execute("DIFF", one, other))

    def load(self, lines: str) -> int:
        """Executes commands, one in each line, all or none. Gives how many."""
        return number(self.execute("FIXTURE", "LOAD", lines))

    def reset(self) -> None:
        """Makes data, clock, faults, calls and settings what they were when the space began. Its ledger is on."""
        self.execute("RESET")
        self.begin_ledger()

    def begin_ledger(self) -> None:
        """Lets there be a ledger, unless there is one already."""
        if text(fields(self.execute("LEDGER"))["mode"]) == "off":
            self.ledger_on()


def _named(stream: str | None) -> list[Word]:
    return [] if stream is None else [stream]


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


def _consumer(reply: Reply) -> ConsumerSums:
    return ConsumerSums(**{name: number(count) for name, count in fields(reply).items()})


def _snapshot(reply: Reply) -> Snapshot:
    known = fields(reply)
    return Snapshot(text(known["name"]), text(known["clock"]), number(known["keys"]), number(known["bytes"]))
