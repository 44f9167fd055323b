"""The plugin as a suite sees it."""

from __future__ import annotations

import pytest

FAILS = """
import tailrace as package

def test_it(tailrace, td):
    td.freeze(1000000)
    client = tailrace.connect()
    client.execute("CLIENT", "SETNAME", "worker")
    client.execute("XADD", "jobs", "*", "task", "resize")
    client.execute("XGROUP", "CREATE", "jobs", "workers", "0")
    client.execute("XREADGROUP", "GROUP", "workers", "alice", "STREAMS", "jobs", ">")
    td.fault("XACK", before="nil", name="lost")
    client.execute("XACK", "jobs", "workers", "1000000-0")
    td.advance(5000)
    reader = tailrace.connect()
    reader._socket.sendall(b"XREAD BLOCK 7000 STREAMS jobs $\\r\\n")
    td.wait_blocked(1)
    td.assert_drained("jobs", "workers")
"""


def test_a_failure_tells_of_its_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILS)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ConditionFailed: jobs workers is not drained: 0 to read, 1 pending, 1 of them with alice*",
            "*redis://127.0.0.1:*: the clock is frozen and shows 1005000; in 7000 ms something is due*",
            "faults:",
            "  lost CMD XACK *BEFORE nil: struck 1 of 1 that matched, holds 0",
            "the last calls:",
            "  5 at 1000000, client * worker: XACK jobs workers 1000000-0 -> * (fault lost)",
            "clients that wait:",
            "  client * in xread",
            "pending entries:",
            "  jobs workers: 1 pending, 0 to read",
            "    1000000-0 with alice, idle for 5000 ms, delivered 1 times",
        ]
    )


def test_what_passes_says_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(td): assert td.now > 0")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert "tailrace" not in result.stdout.str().split("collected")[1]


def test_the_configuration_and_markers_choose_the_clock(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntailrace_clock = frozen:5000\ntailrace_args = --databases 3")
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.tailrace(nodes=2)

        def test_module(tailrace, td):
            assert (td.clock.mode, td.now, len(tailrace.nodes)) == ("frozen", 5000, 2)

        @pytest.mark.tailrace(nodes=1, clock="auto:2")
        def test_own(tailrace, td):
            assert (td.clock.mode, len(tailrace.nodes)) == ("auto", 1)

        @pytest.mark.tailrace(clock="slow")
        def test_wrong_clock(td): ...

        @pytest.mark.tailrace(node=1)
        def test_wrong_word(td): ...
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines_random(["*'slow' is no clock*", "*takes nodes= and clock=*"])
