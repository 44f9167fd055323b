"""The process of the server: one for a whole test run, in which each test has a space."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from ._caller import named_words
from ._space import Space
from ._wire import Connection, TailraceError, Word, array, fields, text

Fill: TypeAlias = "str | Callable[[Space], object]"
"""What brings data: lines of commands, or a function that is given a space."""


class StartError(TailraceError):
    """The server did not start."""


class Process:
    """A server that runs for as long as this is open, and never longer than the process that started it.

    `options` are options of the server, such as `["--seed", "7"]`. What it logs goes to standard error.
    """

    def __init__(self, options: Sequence[str] = (), *, binary: str | os.PathLike[str] | None = None) -> None:
        command = [str(binary or find_binary()), "--testdouble", "--exit-with-parent", "--port", "0"]
        command += ["--loglevel", "warning", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        line = self._process.stdout.readline()
        try:
            ready = json.loads(line)
        except ValueError:
            status = self._process.wait()
            raise StartError(f"{' '.join(command)} ended with status {status}; it said {line!r}") from None
        self.url: str = ready["url"]
        self.pid: int = ready["pid"]
        self._connection = Connection(*address(self.url))
        self._kept: dict[str, Space] = {}

    def space(self, *, nodes: int | None = None, snapshot: str | None = None) -> Space:
        """Starts a server with nothing in common with others, or a cluster of so many nodes. Its ledger is on.

        With `snapshot` it begins with what `keep` has kept under that name: data, ledger and clock.
        """
        words: list[Word] = ["SPACE", "NEW", *named_words({"NODES": nodes, "FROM": snapshot})]
        if snapshot is None:
            space = Space(self, text(self._connection.execute("TD", *words)))
            space.td.ledger_on()
            return space
        if snapshot not in self._kept:
            known = ", ".join(self._kept) or "none"
            raise TailraceError(f"no snapshot {snapshot!r} is kept; there are: {known}")
        space = Space(self, text(self._kept[snapshot].td.execute(*words)))
        space.td.begin_ledger()
        return space

    def keep(self, name: str, fill: Fill, *, nodes: int | None = None) -> None:
        """Keeps what `fill` brings, for spaces that begin with it: lines of commands, or what is done to a space.

        Spaces of any number of nodes can begin with it.
        """
        space = self.space(nodes=nodes)
        try:
            if isinstance(fill, str):
                space.td.load(fill)
            else:
                fill(space)
            space.td.save(name)
        except BaseException:
            space.close()
            raise
        before = self._kept.pop(name, None)
        if before is not None:
            before.close()
        self._kept[name] = space

    @property
    def kept(self) -> list[str]:
        """The names under which something is kept."""
        return list(self._kept)

    def nodes(self, space: Space) -> list[tuple[str, int]]:
        """Host and port of each node of a space, in the order of their numbers."""
        spaces = (fields(known) for known in array(self._connection.execute("TD", "SPACE", "LIST")))
        urls = (known["nodes"] for known in spaces if text(known["url"]) == space.url)
        return [address(text(url)) for url in array(next(urls, []))]

    def free(self, space: Space) -> None:
        """Ends a space; its connections are closed then."""
        self._connection.execute("TD", "SPACE", "FREE", space.url)

    def close(self) -> None:
        """Ends the server and all of its spaces."""
        self._connection.close()
        for space in self._kept.values():
            space.td.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def find_binary() -> Path:
    """The server's binary: what TAILRACE_BINARY names, and else the one that was installed with this package."""
    chosen = os.environ.get("TAILRACE_BINARY")
    if chosen:
        return Path(chosen)
    installed = Path(sysconfig.get_path("scripts")) / "tailrace"
    found = str(installed) if installed.exists() else shutil.which("tailrace")
    if not found:
        raise StartError("the binary 'tailrace' is not installed; set TAILRACE_BINARY to its path")
    return Path(found)


def address(url: str) -> tuple[str, int]:
    """Host and port of a url."""
    host, _, port = url.removeprefix("redis://").rpartition(":")
    return host.strip("[]"), int(port)
