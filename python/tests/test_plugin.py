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
            "  client * in XREAD BLOCK 7000 STREAMS jobs $",
            "pending entries:",
            "  jobs workers: 1000000-0 with alice, idle for 5000 ms, delivered 1 times",
        ]
    )


STUCK = """
import pytest

@pytest.mark.tailrace(nodes=2, clock="frozen:1000000")
def test_it(tailrace, td):
    client = tailrace.connect()
    client.execute("XADD", "{b} s", "*", "f", "v")
    client.execute("XGROUP", "CREATE", "{b} s", "g", "0")
    client.execute("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "{b} s", ">")
    reader = tailrace.connect()
    reader._socket.sendall(b"XREAD BLOCK 0 STREAMS {b} $\\r\\n")
    td.wait_blocked(1)
    td.fault("*", before="stall", times=None, name="all")
    td.pause()
    assert False

@pytest.fixture
def broken(tailrace, td):
    td.load("SET k v")
    raise ValueError("the fixture is wrong")

def test_a_fixture_fails(broken): ...
"""


def test_a_report_comes_whatever_the_test_has_done(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(STUCK)
    result = pytester.runpytest_subprocess(timeout=60)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ValueError: the fixture is wrong",
            "*the clock is real and shows *",
            "the last calls: none",
            "*redis://127.0.0.1:*: the clock is frozen and shows 1000000",
            "faults:",
            "  all CMD [*] ALWAYS BEFORE stall: struck 0 of 0 that matched, holds 0",
            "clients that wait:",
            "  client * in XREAD BLOCK 0 STREAMS {b} $",
            "pending entries:",
            '  "{b} s" g: 1000000-0 with alice, idle for 0 ms, delivered 1 times',
        ]
    )


def test_tests_begin_with_what_their_suite_has_made(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntailrace_clock = frozen:5000")
    pytester.makeconftest(
        """
        import pytest

        made = []

        def jobs(space):
            made.append(space.url)
            space.connect().execute("XADD", "jobs", "*", "task", "resize")

        @pytest.fixture(scope="session")
        def tailrace_snapshots():
            return {"orders": "XADD orders * sku 7\\nXGROUP CREATE orders workers 0", "jobs": jobs}
        """
    )
    pytester.makepyfile(
        """
        import conftest
        import pytest

        pytestmark = pytest.mark.tailrace(snapshot="orders")

        def test_module(tailrace, td):
            assert (td.clock.mode, td.now) == ("frozen", 5000)
            assert "db0 orders entry 5000-0 sku 7" in td.state()
            with pytest.raises(AssertionError, match="never delivered"):
                td.assert_at_least_once("orders", "workers")
            tailrace.connect().execute("DEL", "orders")

        @pytest.mark.tailrace(nodes=3, clock="frozen:7000")
        def test_cluster(tailrace, td):
            assert (len(tailrace.nodes), td.now) == (3, 7000)
            td.assert_len("orders", 1)

        @pytest.mark.parametrize("place", range(2))
        @pytest.mark.tailrace(snapshot="jobs")
        def test_function(td, place):
            td.assert_len("jobs", 1)
            assert "orders" not in td.state()
            assert len(conftest.made) == 1

        @pytest.mark.tailrace(snapshot="others")
        def test_missing(td): ...
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*there is no snapshot 'others'; the fixture tailrace_snapshots has: orders, jobs*"])


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
    result.stdout.fnmatch_lines_random(["*'slow' is no clock*", "*takes nodes=, clock= and snapshot=*"])
