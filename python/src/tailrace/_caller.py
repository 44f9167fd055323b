"""The connection of a test to what holds its server: words go out, replies come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from ._wire import Connection, Reply, ServerError, Word

if TYPE_CHECKING:
    from ._space import Space

Amount: TypeAlias = "int | str"
"""How a number is to be: 3, or ">= 3" and the like."""


class ConditionFailed(AssertionError):
    """Something does not hold. The text says what is the case instead."""


class Caller:
    """What sends `TESTDOUBLE` to a space."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._connection: Connection | None = None

    def execute(self, *words: Word) -> Reply:
        """`TESTDOUBLE` with these words, for what has no method here."""
        return self._connected().execute("TD", *words)

    def execute_all(self, *commands: tuple[Word, ...]) -> None:
        """Several of them at once."""
        self._connected().execute_all(*(("TD", *words) for words in commands))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._space.connect()
        return self._connection

    def _judge(self, *words: Word) -> None:
        """Raises ConditionFailed if the reply is an error."""
        __tracebackhide__ = True
        try:
            self.execute(*words)
        except ServerError as error:
            reason = str(error).removeprefix("ERR ")
        else:
            return
        raise ConditionFailed(reason)


def amount_words(amount: Amount) -> list[Word]:
    if isinstance(amount, int):
        return [amount]
    words: list[Word] = [*amount.split()]
    if len(words) != 2:
        raise ValueError(f'{amount!r} is no amount; write 3 or ">= 3"')
    return words


def named_words(values: Mapping[str, Word | None]) -> list[Word]:
    """Those that are said, each behind its word."""
    return [part for word, value in values.items() if value is not None for part in (word, value)]


def to_ms(seconds: float) -> int:
    return round(seconds * 1_000)
