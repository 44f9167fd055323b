"""A space: a server of its own for one test."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from ._td import TestDouble
from ._wire import Connection

if TYPE_CHECKING:
    from ._process import Process


class Space:
    """A server, or a cluster, with its own port, data, clock, faults and calls.

    `url` is for any client of Redis or Valkey; of a cluster it is that of the first node.
    """

    def __init__(self, process: Process, url: str) -> None:
        self._process = process
        self.url = url
        self._nodes: list[tuple[str, int]] | None = None
        self._td: TestDouble | None = None
        self._is_closed = False

    @property
    def host(self) -> str:
        return self.url.removeprefix("redis://").rpartition(":")[0]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def nodes(self) -> list[tuple[str, int]]:
        """Host and port of each node, in the order of their numbers; of a server without a cluster its own."""
        if self._nodes is None:
            self._nodes = self._process.nodes(self)
        return self._nodes

    @property
    def td(self) -> TestDouble:
        """What holds it: clock, faults, waits, calls, snapshots, the ledger."""
        if self._td is None:
            self._td = TestDouble(self)
        return self._td

    def connect(self) -> Connection:
        """A bare connection, where no client library is wanted."""
        return Connection(self.host, self.port)

    def close(self) -> None:
        """Ends it. Clients that are still connected are closed."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._td is not None:
            self._td.close()
        self._process.free(self)

    def __enter__(self) -> Space:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
