"""What a failed test's report says of its server."""

from __future__ import annotations

from ._space import Space
from ._td import Call
from ._wire import Connection, TailraceError, Word, array, fields, text

CALLS_MAX = 20
PENDING_MAX = 20
STREAMS_MAX = 20
TEXT_MAX = 160


def describe(space: Space) -> str:
    """The last calls, who waits, what is pending, the clock, and the faults."""
    try:
        return "\n".join(_lines(space))
    except (OSError, TailraceError) as error:
        return f"the server tells nothing: {error}"


def _lines(space: Space) -> list[str]:
    td = space.td
    calls = td.calls(limit=CALLS_MAX)
    clock = td.clock
    lines = [f"{space.url}: the clock is {clock.mode} and shows {clock.now}"]
    if clock.next is not None:
        lines[0] += f"; in {clock.next - clock.now} ms something is due"
    lines += _section("faults", _faults(space))
    lines += _section("the last calls", [_call(call) for call in calls])
    blocked: list[str] = []
    pending: list[str] = []
    for host, port in space.nodes:
        connection = Connection(host, port)
        blocked += _blocked(connection)
        pending += _pending(connection)
        connection.close()
    lines += _section("clients that wait", blocked)
    lines += _section("pending entries", pending)
    return lines


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}: none"] if not lines else [f"{title}:", *(f"  {line}" for line in lines)]


def _faults(space: Space) -> list[str]:
    known = (fields(fault) for fault in array(space.td.execute("FAULT", "LIST")))
    return [
        f"{text(fault['fault'])}: struck {text(fault['hits'])} of {text(fault['matched'])} that matched, "
        f"holds {text(fault['held'])}"
        for fault in known
    ]


def _call(call: Call) -> str:
    words = " ".join(_word(word) for word in call.command)
    name = f" {call.client_name}" if call.client_name else ""
    fault = f" (fault {call.fault})" if call.fault else ""
    return _short(f"{call.number} at {call.time}, client {call.client}{name}: {words} -> {_word(call.reply)}{fault}")


def _blocked(connection: Connection) -> list[str]:
    lines = []
    for client in text(connection.execute("CLIENT", "LIST")).splitlines():
        known = dict(part.partition("=")[::2] for part in client.split(" "))
        if "b" in known.get("flags", ""):
            lines.append(f"client {known['id']} {known['name']}".rstrip() + f" in {known['cmd']}")
    return lines


def _pending(connection: Connection) -> list[str]:
    lines: list[str] = []
    for stream in _streams(connection):
        for group in array(connection.execute("XINFO", "GROUPS", stream)):
            known = fields(group)
            name = text(known["name"])
            head = f"{text(stream)} {name}: {text(known['pending'])} pending, {text(known['lag'])} to read"
            lines.append(head)
            rows = array(connection.execute("XPENDING", stream, name, "-", "+", PENDING_MAX))
            for row in rows:
                entry, consumer, idle, count = map(text, array(row))
                lines.append(f"  {entry} with {consumer}, idle for {idle} ms, delivered {count} times")
    return lines


def _streams(connection: Connection) -> list[bytes]:
    cursor: Word = 0
    found: list[bytes] = []
    while len(found) < STREAMS_MAX:
        reply = array(connection.execute("SCAN", cursor, "TYPE", "stream", "COUNT", 1_000))
        found += [key for key in array(reply[1]) if isinstance(key, bytes)]
        cursor = text(reply[0])
        if cursor == "0":
            break
    return sorted(found)[:STREAMS_MAX]


def _word(data: bytes) -> str:
    shown = repr(data)[2:-1]
    return f'"{shown}"' if " " in shown or not shown else shown


def _short(line: str) -> str:
    return line if len(line) <= TEXT_MAX else f"{line[:TEXT_MAX]}..."
