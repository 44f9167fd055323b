"""Tailrace in the hands of a test: a stream server that speaks RESP, for any client of Redis or Valkey.

`Process` starts the server, `Process.space` gives each test a server of its own in it, and `Space.td` holds that: its
clock, faults, waits, calls. With pytest the fixtures `tailrace` and `td` do all of that.
"""

from ._process import Process, StartError
from ._space import Space
from ._td import Amount, Call, Clock, ConditionFailed, Fault, TestDouble
from ._wire import Connection, Reply, ServerError, TailraceError

__all__ = [
    "Amount",
    "Call",
    "Clock",
    "ConditionFailed",
    "Connection",
    "Fault",
    "Process",
    "Reply",
    "ServerError",
    "Space",
    "StartError",
    "TailraceError",
    "TestDouble",
]
