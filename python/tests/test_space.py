"""Spaces and what holds them, without a client library."""

from __future__ import annotations

import pytest

from tailrace import ConditionFailed, Connection, Process, ServerError, Space, StartError, TestDouble


def test_spaces_have_nothing_in_common(tailrace: Space, tailrace_process: Process) -> None:
    with tailrace_process.space() as other:
        assert other.url != tailrace.url
        other.td.freeze(5_000)
        connection = other.connect()
        assert connection.execute("XADD", "s", "*", "f", "v") == b"5000-0"
        assert tailrace.connect().execute("EXISTS", "s") == 0
    with pytest.raises(OSError):
        other.connect()


def test_the_clock_goes_as_it_is_told(tailrace: Space, td: TestDouble) -> None:
    assert td.freeze(1_000_000) == 1_000_000
    assert td.clock.mode == "frozen"
    assert td.advance(500) == 1_000_500
    assert td.advance_to(2_000_000) == td.now == 2_000_000
    assert td.skew(-1_000) == 1_999_000
    tailrace.connect().execute("SET", "k", "v", "PX", 70)
    assert td.clock.next == 1_999_071
    assert td.next_deadline() == 1_999_071
    assert td.run(9) == 1_999_080
    assert td.real() > 1_700_000_000_000
    assert td.scale(10) > 0
    assert td.auto(2) > 0


def test_faults_strike_and_are_counted(tailrace: Space, td: TestDouble) -> None:
    connection = tailrace.connect()
    fault = td.fault("GET", before="error BUSY later", key="k*", skip=1, times=2)
    assert connection.execute("GET", "k") is None
    for _ in range(2):
        with pytest.raises(ServerError, match="BUSY later"):
            connection.execute("GET", "k")
    assert connection.execute("GET", "k") is None
    assert fault.hits == 2
    assert len(td.calls("GET", errors=True)) == 2
    fault.remove()
    with pytest.raises(ServerError, match="there is no fault 'fault-1', and no other"):
        _ = fault.hits
    with pytest.raises(TypeError):
        td.fault("GET")


def test_what_does_not_hold_fails_with_what_is_the_case(tailrace: Space, td: TestDouble) -> None:
    connection = tailrace.connect()
    connection.execute("XADD", "s", "1-1", "f", "v")
    connection.execute("XGROUP", "CREATE", "s", "g", "0")
    td.wait_len("s", ">= 1")
    with pytest.raises(ConditionFailed, match="LEN of s is 1, and not = 2"):
        td.assert_len("s", 2)
    with pytest.raises(ConditionFailed, match="after 0 ms s g is not drained: 1 to read, 0 pending"):
        td.wait_drained("s", "g", timeout=0)
    with pytest.raises(ConditionFailed, match="1-1"):
        td.assert_at_least_once("s", "g")
    with pytest.raises(ServerError, match="no other client reads s g as nobody; there are: none"):
        td.kill_consumer("s", "g", "nobody")
    td.assert_no_loss("s", "g")
    td.wait_idle()


def test_the_clock_ticks_with_each_command(tailrace: Space, td: TestDouble) -> None:
    td.freeze(1_000_000)
    td.tick(5)
    assert td.clock.mode == "tick 5"
    connection = tailrace.connect()
    connection.execute("PING")
    assert connection.execute("XADD", "s", "*", "f", "v") == b"1000010-0"


@pytest.mark.tailrace(nodes=3, clock="frozen:1000000")
def test_a_cluster_is_held_as_one(tailrace: Space, td: TestDouble) -> None:
    assert len(tailrace.nodes) == 3
    td.advance(1_000)
    assert td.now == 1_001_000
    # Nodes are in the order of their numbers, whatever their ports are: each has the slot of its key.
    for (host, port), key in zip(tailrace.nodes, ["{b}", "{c}", "{a}"]):
        connection = Connection(host, port)
        connection.execute("XADD", key, "1-1", "f", "v")
        connection.execute("XGROUP", "CREATE", key, "g", "0")
        connection.execute("XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">")
        connection.close()
    assert [td.ledger(key, "g").pending for key in ("{a}", "{b}", "{c}")] == [1, 1, 1]
    assert td.ledger_history("{a}", "g", "1-1")[0].startswith("added by client")
    td.save("begun")
    assert td.state().count(" entry 1-1 f v") == 3
    connection = tailrace.connect()
    connection.execute("DEL", "{b}")
    connection.close()
    assert "- db0 {b} entry 1-1 f v" in td.diff("begun")
    td.restore("begun")
    assert td.diff("begun") == ""
    assert td.snapshots()[0].keys == 3


@pytest.mark.tailrace(nodes=2)
def test_slots_and_nodes_of_a_cluster_go_where_a_test_wants(tailrace: Space, td: TestDouble) -> None:
    connection = tailrace.connect()
    # The slot of `{b}` is with the first of the nodes.
    td.cluster_migrate("{b}", 1)
    with pytest.raises(ServerError, match="ASK 3300 "):
        connection.execute("GET", "{b}")
    td.cluster_migrate_cancel("{b}")
    assert connection.execute("GET", "{b}") is None
    td.cluster_migrate("{b}", 1)
    td.cluster_migrate_end("{b}")
    with pytest.raises(ServerError, match="slot 3300 is already with node 1"):
        td.cluster_move(3300, 1)
    td.cluster_move(3300, 0)
    with pytest.raises(ServerError, match="no replica of it is up"):
        td.cluster_failover(1)
    td.cluster_stale(0)
    td.cluster_stale(0, is_stale=False)
    td.cluster_kill(1)
    with pytest.raises(ServerError, match="CLUSTERDOWN"):
        connection.execute("GET", "{b}")
    td.cluster_revive(1)
    assert connection.execute("GET", "{b}") is None


def test_a_server_that_does_not_start_is_an_error() -> None:
    with pytest.raises(StartError, match="status 1"):
        Process(["--no-such-option", "1"])
