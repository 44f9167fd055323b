"""The pytest plugin: a space for each test, in one process for each worker.

- `tailrace` is the `Space` of the test; `tailrace.url` is for any client.
- `td` is what holds it: `td.advance(60_000)`, `td.fault("XACK", after="close")`.
- `@pytest.mark.tailrace(nodes=3, clock="frozen")` says what it is to be: a cluster; a clock that is `real`, `frozen`,
  `frozen:UNIX-MS` or `auto:CLIENTS`. What no marker says is as `tailrace_clock` in the configuration has it.
- When a test fails, its report tells the last calls, who waits, what is pending, the clock, and the faults.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from . import _report
from ._process import Process
from ._space import Space
from ._td import TestDouble
from ._wire import Word

_SPACE = pytest.StashKey[Space]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("tailrace_args", "options of the tailrace process", type="args", default=[])
    parser.addini(
        "tailrace_clock", "how clocks go at first: real, frozen, frozen:UNIX-MS, auto:CLIENTS", default="real"
    )


def pytest_configure(config: pytest.Config) -> None:
    line = "tailrace(nodes=None, clock=None): what the server of the test is to be; see the package tailrace"
    config.addinivalue_line("markers", line)


@pytest.fixture(scope="session")
def tailrace_process(pytestconfig: pytest.Config) -> Iterator[Process]:
    """The process that the spaces of this worker are in."""
    with Process(pytestconfig.getini("tailrace_args")) as process:
        yield process


@pytest.fixture
def tailrace(request: pytest.FixtureRequest, tailrace_process: Process) -> Iterator[Space]:
    """A server of its own for the test. Its ledger is on."""
    nodes, clock = _wishes(request)
    with tailrace_process.space(nodes=nodes) as space:
        request.node.stash[_SPACE] = space
        space.td.execute_all(("LEDGER", "ON"), ("CLOCK", *_clock(clock)))
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
    if report.when == "call" and report.failed and space is not None:
        report.sections.append(("tailrace", _report.describe(space)))
    return report


def _wishes(request: pytest.FixtureRequest) -> tuple[int | None, str]:
    """What the markers say, that of the test itself before those of its class and module."""
    nodes: int | None = None
    clock: str | None = None
    for marker in request.node.iter_markers("tailrace"):
        unknown = marker.kwargs.keys() - {"nodes", "clock"}
        if unknown or marker.args:
            raise pytest.UsageError("the marker tailrace takes nodes= and clock=, and nothing else")
        nodes = marker.kwargs.get("nodes") if nodes is None else nodes
        clock = marker.kwargs.get("clock") if clock is None else clock
    return nodes, clock or request.config.getini("tailrace_clock")


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
