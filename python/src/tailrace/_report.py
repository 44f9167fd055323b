"""What a failed test's report says of its server."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ._caller import ConditionFailed
from ._data import Call
from ._space import Space
from ._td import TestDouble
from ._wire import TailraceError, array, fields, text

CALLS_MAX = 20
PENDING_MAX = 20
TEXT_MAX = 160


def describe(space: Space) -> str:
    """The last calls, who waits, what is pending, the clock, and the faults.

    It is all asked of TESTDOUBLE, which no fault and no pause keeps back.
    """
    td = space.td
    lines = [f"{space.url}: {part}" for part in _part(lambda: [_clock(td)])]
    for title, tell in {
        "faults": _faults,
        "the last calls": _calls,
        "clients that wait": _blocked,
        "pending entries": _pending,
    }.items():
        told = _part(partial(tell, td))
        lines += [f"{title}: none"] if not told else [f"{title}:", *(f"  {line}" for line in told)]
    return "\n".join(lines)


def _part(tell: Callable[[], list[str]]) -> list[str]:
    """A part that cannot be told does not hide the others."""
    try:
        return tell()
    except (OSError, TailraceError) as error:
        return [f"cannot be told: {error}"]


def _clock(td: TestDouble) -> str:
    clock = td.clock
    due = "" if clock.next is None else f"; in {clock.next - clock.now} ms something is due"
    return f"the clock is {clock.mode} and shows {clock.now}{due}"


def _faults(td: TestDouble) -> list[str]:
    known = (fields(fault) for fault in array(td.execute("FAULT", "LIST")))
    return [
        f"{text(fault['fault'])}: struck {text(fault['hits'])} of {text(fault['matched'])} that matched, "
        f"holds {text(fault['held'])}"
        for fault in known
    ]


def _calls(td: TestDouble) -> list[str]:
    calls = td.calls(limit=CALLS_MAX)
    left_out = td.count_calls() - len(calls)
    head = [f"{left_out} before them"] if left_out > 0 else []
    return head + [_call(call) for call in calls]


def _call(call: Call) -> str:
    words = " ".join(_word(word) for word in call.command)
    name = f" {call.client_name}" if call.client_name else ""
    fault = f" (fault {call.fault})" if call.fault else ""
    heard = _word(call.reply) if call.reply else "nothing"
    return _short(f"{call.number} at {call.time}, client {call.client}{name}: {words} -> {heard}") + fault


def _blocked(td: TestDouble) -> list[str]:
    """Who waits is told by the error of an assertion that cannot hold; a cluster tells it node by node."""
    try:
        td.check("BLOCKED", "<", 0)
    except ConditionFailed as error:
        told = str(error).split("; ")
        readers = (part.removeprefix("who waits: ") for part in told)
        return [_short(reader) for reader in readers if reader.startswith("client ")]
    return []


def _pending(td: TestDouble) -> list[str]:
    """The state has it."""
    now = td.now
    found = PENDING.findall(td.state())
    lines = [
        f"{stream} {group}: {entry} with {consumer}, idle for {now - int(at)} ms, delivered {count} times"
        for stream, group, entry, consumer, count, at in found[:PENDING_MAX]
    ]
    return lines + ([f"and {len(found) - PENDING_MAX} more"] if len(found) > PENDING_MAX else [])


PENDING = re.compile(
    r"^(?:db0 )?(.+) group (.+) pending (\S+) consumer (.+) deliveries (\d+) delivered (\d+)$", re.MULTILINE
)


def _word(data: bytes) -> str:
    shown = repr(data)[2:-1]
    return f'"{shown}"' if " " in shown or not shown else shown


def _short(line: str) -> str:
    return line if len(line) <= TEXT_MAX else f"{line[:TEXT_MAX]}..."
