"""Faults: errors, replies that are lost, connections that break, delays."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ._caller import Caller, named_words
from ._wire import Word, number

if TYPE_CHECKING:
    from ._space import Space


class Fault:
    """A fault that was put in."""

    def __init__(self, td: Faults, name: str) -> None:
        self._td = td
        self.name = name

    @property
    def hits(self) -> int:
        """How often it struck."""
        return number(self._td.execute("FAULT", "HITS", self.name))

    def release(self, count: int | None = None) -> int:
        """Lets go what it keeps back, the first that came first. Gives how much that was."""
        return self._td.release(self.name, count)

    def remove(self) -> None:
        """Takes it out, and lets go what it keeps back."""
        self._td.execute("FAULT", "DEL", self.name)


class Faults(Caller):
    """Puts faults in, and takes them out."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._numbers = itertools.count(1)

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
        node: int | None = None,
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
        words = named_words({"CMD": command, "KEY": key, "GROUP": group, "CONSUMER": consumer, "CLIENT": client})
        words += named_words({"NODE": node, "PROB": None if probability == 1.0 else probability})
        words += [*_how_often(skip, times), "BEFORE" if before else "AFTER", *_happening(happens)]
        return self._add(name, words)

    def drop_pushes(
        self,
        kind: str | None = None,
        *,
        key: str | None = None,
        client: str | None = None,
        node: int | None = None,
        times: int | None = 1,
        skip: int = 0,
        name: str | None = None,
    ) -> Fault:
        """Loses what is pushed to clients: `message`, `pmessage`, `smessage` or `invalidate`.

        `key` is a channel, or a key for what tells caches. `times=None` is always.
        """
        words = named_words({"CMD": kind, "KEY": key, "CLIENT": client, "NODE": node})
        return self._add(name, [*words, *_how_often(skip, times), "PUSH", "DROP"])

    def release(self, fault: Fault | str, count: int | None = None) -> int:
        """Lets go what a fault keeps back, the first that came first. Gives how much that was."""
        return number(self.execute("RELEASE", fault_name(fault), *([] if count is None else [count])))

    def clear_faults(self) -> None:
        """Takes all faults out, and lets go what they keep back."""
        self.execute("FAULT", "CLEAR")

    def load_faults(self, lines: str) -> int:
        """Puts in faults, one in each line, as `TD FAULT ADD` takes them."""
        return number(self.execute("FAULT", "LOAD", lines))

    def _add(self, name: str | None, words: list[Word]) -> Fault:
        name = name or f"fault-{next(self._numbers)}"
        self.execute("FAULT", "ADD", name, *words)
        return Fault(self, name)


def fault_name(fault: Fault | str) -> str:
    return fault.name if isinstance(fault, Fault) else fault


def _how_often(skip: int, times: int | None) -> list[Word]:
    """Nothing for once, at the first."""
    words = named_words({"SKIP": skip or None, "TIMES": None if times == 1 else times})
    return [*words, "ALWAYS"] if times is None else words


def _happening(happens: str) -> list[Word]:
    what, _, rest = happens.partition(" ")
    if what.lower() in ("error", "reply"):
        return [what, rest]
    return [what, *rest.split()]
