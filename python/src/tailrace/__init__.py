"""Tailrace in the hands of a test: a stream server that speaks RESP, for any client of Redis or Valkey.

`Process` starts the server, `Process.space` gives each test a server of its own in it, and `Space.td` holds that: its
clock, faults, waits, calls, snapshots. With pytest the fixtures `tailrace` and `td` do all of that.
"""

from ._caller import Amount, ConditionFailed
from ._data import Call, ConsumerSums, LedgerSums, Snapshot
from ._faults import Fault
from ._process import Fill, Process, StartError
from ._space import Space
from ._td import Clock, Fate, TestDouble
from ._wire import Connection, Reply, ServerError, TailraceError

__all__ = [
    "Amount",
    "Call",
    "Clock",
    "ConditionFailed",
    "Connection",
    "ConsumerSums",
    "Fate",
    "Fault",
    "Fill",
    "LedgerSums",
    "Process",
    "Reply",
    "ServerError",
    "Snapshot",
    "Space",
    "StartError",
    "TailraceError",
    "TestDouble",
]
