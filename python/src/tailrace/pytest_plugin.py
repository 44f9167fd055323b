"""The pytest plugin: a space for each test, in one process for each worker.

- `tailrace` is the `Space` of the test; `tailrace.url` is for any client.
- `td` is what holds it: `td.advance(60_000)`, `td.fault("XACK", after="close")`.
- `@pytest.mark.tailrace(nodes=3, clock="frozen", snapshot="orders")` says what it is to be: a cluster; a clock that is
  `real`, `frozen`, `frozen:UNIX-MS` or `auto:CLIENTS`; and with which data, ledger and clock it begins. What no marker
  says is as `tailrace_clock` in the configuration has it.
- `tailrace_snapshots` is a fixture for a suite to replace: what there is to begin with, by name. Each is made once for
  each worker, when a test first asks for it, from lines of commands or by a function that is given a space.
- When a test fails, its report tells the last calls, who waits, what is pending, the clock, and the faults.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

import pytest

from . import _report
from ._process import Fill, Process
from ._space import Space
from ._td import TestDouble
from ._wire import Word

_SPACE = pytest.StashKey[Space]()


@dataclass
class _Wishes:
    """What a test wants of its server."""

    nodes: int | None = None
    clock: str | None = None
    snapshot: str | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("tailrace_args", "options of the tailrace process", type="args", default=[])
    parser.addini(
        "tailrace_clock", "how clocks go at first: real, frozen, frozen:UNIX-MS, auto:CLIENTS", default="real"
    )


def pytest_configure(config: pytest.Config) -> None:
    line = "tailrace(nodes=None, clock=None, snapshot=None): what the server of the test is to be"
    config.addinivalue_line("markers", line)


@pytest.fixture(scope="session")
def tailrace_process(pytestconfig: pytest.Config) -> Iterator[Process]:
    """The process that the spaces of this worker are in."""
    with Process(pytestconfig.getini("tailrace_args")) as process:
        yield process


@pytest.fixture(scope="session")
def tailrace_snapshots() -> Mapping[str, Fill]:
    """What tests may begin with: none, unless a suite has a fixture of this name."""
    return {}


@pytest.fixture
def tailrace(request: pytest.FixtureRequest, tailrace_process: Process) -> Iterator[Space]:
    """A server of its own for the test. Its ledger is on."""
    wishes = _wishes(request)
    usual = request.config.getini("tailrace_clock")
    if wishes.snapshot is not None:
        _keep(request, tailrace_process, wishes.snapshot, usual)
    with tailrace_process.space(nodes=wishes.nodes, snapshot=wishes.snapshot) as space:
        request.node.stash[_SPACE] = space
        # A snapshot has a clock of its own.
        clock = wishes.clock or (usual if wishes.snapshot is None else None)
        if clock is not None:
            space.td.execute("CLOCK", *_clock(clock))
        yield space


@pytest.fixture
def td(tailrace: Space) -> TestDouble:
    """What holds the server of the test."""
    return tailrace.td


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    space = item.stash.get(_SPACE, None)
    # What is to be done after a test is done when its space has ended.
    if report.when != "teardown" and report.failed and space is not None:
        report.sections.append(("tailrace", _report.describe(space)))
    return report


def _wishes(request: pytest.FixtureRequest) -> _Wishes:
    """What the markers say, that of the test itself before those of its class and module."""
    wishes = _Wishes()
    for marker in request.node.iter_markers("tailrace"):
        unknown = marker.kwargs.keys() - vars(wishes).keys()
        if unknown or marker.args:
            raise pytest.UsageError("the marker tailrace takes nodes=, clock= and snapshot=, and nothing else")
        for name, wish in marker.kwargs.items():
            if getattr(wishes, name) is None:
                setattr(wishes, name, wish)
    return wishes


def _keep(request: pytest.FixtureRequest, process: Process, name: str, clock: str) -> None:
    """Makes a snapshot that a test begins with, unless it is there."""
    if name in process.kept:
        return
    known: Mapping[str, Fill] = request.getfixturevalue("tailrace_snapshots")
    if name not in known:
        names = ", ".join([*process.kept, *known]) or "none"
        raise pytest.UsageError(f"there is no snapshot {name!r}; the fixture tailrace_snapshots has: {names}")
    fill = known[name]

    def begin(space: Space) -> None:
        space.td.execute("CLOCK", *_clock(clock))
        if isinstance(fill, str):
            space.td.load(fill)
        else:
            fill(space)

    process.keep(name, begin)


def _clock(clock: str) -> list[Word]:
    mode, _, rest = clock.partition(":")
    words: dict[str, list[Word]] = {
        "real": ["REAL"],
        "frozen": ["FREEZE", *([rest] if rest else [])],
        "auto": ["AUTO", rest or "1"],
    }
    if mode not in words:
        raise pytest.UsageError(f"{clock!r} is no clock; there are real, frozen, frozen:UNIX-MS, auto:CLIENTS")
    return words[mode]
