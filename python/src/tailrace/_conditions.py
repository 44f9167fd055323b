"""Waiting for something, and insisting on it."""

from __future__ import annotations

from ._caller import Amount, Caller, amount_words, named_words, to_ms
from ._faults import Fault, fault_name
from ._wire import Word


class Conditions(Caller):
    """What a test waits for (`timeout` is in seconds of the host), and what it insists on."""

    def wait(self, *condition: Word, timeout: float = 5.0) -> None:
        """Waits until a condition of `TD WAIT HELP` holds, by the host's clock."""
        __tracebackhide__ = True
        self._judge("WAIT", *condition, "TIMEOUT", to_ms(timeout))

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
        self.wait(
            "BLOCKED",
            *amount_words(clients),
            *named_words({"KEY": key, "GROUP": group, "CONSUMER": consumer}),
            timeout=timeout,
        )

    def wait_drained(self, stream: str, group: str, *, timeout: float = 5.0) -> None:
        """Waits until a group has read all and acknowledged all."""
        __tracebackhide__ = True
        self.wait("DRAINED", stream, group, timeout=timeout)

    def wait_pending(self, stream: str, group: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until so many entries are pending."""
        __tracebackhide__ = True
        self.wait("PENDING", stream, group, *amount_words(entries), timeout=timeout)

    def wait_lag(self, stream: str, group: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until so many entries are still to be read."""
        __tracebackhide__ = True
        self.wait("LAG", stream, group, *amount_words(entries), timeout=timeout)

    def wait_len(self, stream: str, entries: Amount, *, timeout: float = 5.0) -> None:
        """Waits until a stream has so many entries."""
        __tracebackhide__ = True
        self.wait("LEN", stream, *amount_words(entries), timeout=timeout)

    def wait_entry(self, stream: str, field: str, value: str, *, timeout: float = 5.0) -> None:
        """Waits until an entry of a stream has that value in that field."""
        __tracebackhide__ = True
        self.wait("ENTRY", stream, field, value, timeout=timeout)

    def wait_clients(self, clients: Amount, *, timeout: float = 5.0) -> None:
        """Waits until so many clients are connected, that of `td` among them."""
        __tracebackhide__ = True
        self.wait("CLIENTS", *amount_words(clients), timeout=timeout)

    def wait_subscribed(self, channel: str, clients: Amount = ">= 1", *, timeout: float = 5.0) -> None:
        """Waits until so many clients listen to a channel."""
        __tracebackhide__ = True
        self.wait("SUBSCRIBED", channel, *amount_words(clients), timeout=timeout)

    def wait_calls(
        self,
        command: str,
        calls: Amount = ">= 1",
        *,
        client: str | None = None,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        node: int | None = None,
        errors: bool = False,
        timeout: float = 5.0,
    ) -> None:
        """Waits until so many calls of a command were answered."""
        __tracebackhide__ = True
        self.wait(
            "CALLS",
            *amount_words(calls),
            *call_words(command, client, key, group, consumer, node, errors),
            timeout=timeout,
        )

    def wait_held(self, fault: Fault | str, calls: Amount = ">= 1", *, timeout: float = 5.0) -> None:
        """Waits until a fault keeps back so much."""
        __tracebackhide__ = True
        self.wait("HELD", fault_name(fault), *amount_words(calls), timeout=timeout)

    def wait_idle(self, *, timeout: float = 5.0) -> None:
        """Waits until nothing is left to do: no command is kept back, and none waits for its turn."""
        __tracebackhide__ = True
        self.wait("IDLE", timeout=timeout)

    def wait_at_least_once(self, stream: str, group: str, *, worked: bool = False, timeout: float = 5.0) -> None:
        """Waits until each entry was delivered, and acknowledged since by somebody it was delivered to."""
        __tracebackhide__ = True
        self.wait("AT-LEAST-ONCE", stream, group, *_worked(worked), timeout=timeout)

    def wait_exactly_once(self, stream: str, group: str, *, worked: bool = False, timeout: float = 5.0) -> None:
        """Waits until each entry was delivered once, and acknowledged likewise."""
        __tracebackhide__ = True
        self.wait("EXACTLY-ONCE", stream, group, *_worked(worked), timeout=timeout)

    def wait_no_loss(self, stream: str, group: str, *, timeout: float = 5.0) -> None:
        """Waits until no entry was trimmed or deleted before it was delivered."""
        __tracebackhide__ = True
        self.wait("NO-LOSS", stream, group, timeout=timeout)

    def wait_no_leak(self, stream: str, group: str, *, timeout: float = 5.0) -> None:
        """Waits until no entry is pending or was dropped, and nobody acknowledged what was not delivered to it."""
        __tracebackhide__ = True
        self.wait("NO-LEAK", stream, group, timeout=timeout)

    def assert_blocked(
        self, clients: Amount, *, key: str | None = None, group: str | None = None, consumer: str | None = None
    ) -> None:
        """So many clients wait for something."""
        __tracebackhide__ = True
        self.check("BLOCKED", *amount_words(clients), *named_words({"KEY": key, "GROUP": group, "CONSUMER": consumer}))

    def assert_drained(self, stream: str, group: str) -> None:
        """A group has read all and acknowledged all."""
        __tracebackhide__ = True
        self.check("DRAINED", stream, group)

    def assert_pending(self, stream: str, group: str, entries: Amount) -> None:
        """So many entries are pending."""
        __tracebackhide__ = True
        self.check("PENDING", stream, group, *amount_words(entries))

    def assert_lag(self, stream: str, group: str, entries: Amount) -> None:
        """So many entries are still to be read."""
        __tracebackhide__ = True
        self.check("LAG", stream, group, *amount_words(entries))

    def assert_len(self, stream: str, entries: Amount) -> None:
        """A stream has so many entries."""
        __tracebackhide__ = True
        self.check("LEN", stream, *amount_words(entries))

    def assert_entry(self, stream: str, field: str, value: str) -> None:
        """An entry of a stream has that value in that field."""
        __tracebackhide__ = True
        self.check("ENTRY", stream, field, value)

    def assert_clients(self, clients: Amount) -> None:
        """So many clients are connected, that of `td` among them."""
        __tracebackhide__ = True
        self.check("CLIENTS", *amount_words(clients))

    def assert_subscribed(self, channel: str, clients: Amount = ">= 1") -> None:
        """So many clients listen to a channel."""
        __tracebackhide__ = True
        self.check("SUBSCRIBED", channel, *amount_words(clients))

    def assert_calls(
        self,
        command: str,
        calls: Amount = ">= 1",
        *,
        client: str | None = None,
        key: str | None = None,
        group: str | None = None,
        consumer: str | None = None,
        node: int | None = None,
        errors: bool = False,
    ) -> None:
        """So many calls of a command were answered."""
        __tracebackhide__ = True
        self.check("CALLS", *amount_words(calls), *call_words(command, client, key, group, consumer, node, errors))

    def assert_held(self, fault: Fault | str, calls: Amount = ">= 1") -> None:
        """A fault keeps back so much."""
        __tracebackhide__ = True
        self.check("HELD", fault_name(fault), *amount_words(calls))

    def assert_idle(self) -> None:
        """Nothing is left to do: no command is kept back, and none waits for its turn."""
        __tracebackhide__ = True
        self.check("IDLE")

    def assert_at_least_once(self, stream: str, group: str, *, worked: bool = False) -> None:
        """Each entry was delivered, and acknowledged since by somebody it was delivered to."""
        __tracebackhide__ = True
        self.check("AT-LEAST-ONCE", stream, group, *_worked(worked))

    def assert_exactly_once(self, stream: str, group: str, *, worked: bool = False) -> None:
        """Each entry was delivered once, and acknowledged likewise."""
        __tracebackhide__ = True
        self.check("EXACTLY-ONCE", stream, group, *_worked(worked))

    def assert_no_loss(self, stream: str, group: str) -> None:
        """No entry was trimmed or deleted before it was delivered."""
        __tracebackhide__ = True
        self.check("NO-LOSS", stream, group)

    def assert_no_leak(self, stream: str, group: str) -> None:
        """No entry is pending or was dropped, and nobody acknowledged what was not delivered to it."""
        __tracebackhide__ = True
        self.check("NO-LEAK", stream, group)


def call_words(
    command: str | None,
    client: str | None,
    key: str | None,
    group: str | None,
    consumer: str | None,
    node: int | None,
    errors: bool,
) -> list[Word]:
    """Which calls are meant."""
    named = {"CMD": command, "CLIENT": client, "KEY": key, "GROUP": group, "CONSUMER": consumer, "NODE": node}
    return [*named_words(named), *(["ERRORS"] if errors else [])]


def _worked(worked: bool) -> list[Word]:
    """Whether the work has to be noted, by `TestDouble.ledger_worked`, before an entry is acknowledged."""
    return ["WORKED"] if worked else []
