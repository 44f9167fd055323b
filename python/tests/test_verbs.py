"""The verbs of a test, without a client library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tailrace import ConditionFailed, Connection, Process, ServerError, Space, TailraceError, TestDouble


@contextmanager
def reading(space: Space, *words: str) -> Iterator[Callable[[], object]]:
    """Lets a client wait for a reply, which is given once it is there."""
    connection = space.connect()
    replies: list[object] = []

    def read() -> None:
        try:
            replies.append(connection.execute(*words))
        except (OSError, TailraceError) as error:
            replies.append(error)

    def reply() -> object:
        thread.join(10)
        return replies[0]

    thread = threading.Thread(target=read)
    thread.start()
    yield reply
    thread.join(10)
    connection.close()


@pytest.mark.tailrace(clock="frozen:1000000")
def test_data_are_kept_shown_and_brought_back(tailrace: Space, td: TestDouble) -> None:
    assert td.load("XADD s * f v\nXGROUP CREATE s g 0\nSET k v") == 3
    with pytest.raises(ServerError, match="line 2, NOPE: .*; nothing was changed"):
        td.load("SET k w\nNOPE")
    assert td.state("k") == "db0 k string v\n"
    td.save("begun")
    td.advance(70)
    assert td.load("DEL k") == 1
    td.save("later")
    differs = "- clock frozen 1000000\n+ clock frozen 1000070\n- db0 k string v\n"
    assert td.diff("begun") == f"--- begun\n+++ NOW\n{differs}"
    assert td.diff("begun", "later") == f"--- begun\n+++ later\n{differs}"
    td.restore("begun")
    assert td.diff("begun") == ""
    td.drop("later")
    assert [(one.name, one.clock, one.keys) for one in td.snapshots()] == [("begun", "frozen 1000000", 2)]
    assert td.snapshots()[0].bytes > 0
    td.reset()
    assert td.state().startswith("clock real\n") and "db0" not in td.state()


def test_after_a_reset_the_ledger_is_on(tailrace: Space, td: TestDouble) -> None:
    td.reset()
    td.load("XADD s * f v\nXGROUP CREATE s g 0")
    with pytest.raises(ConditionFailed, match="never delivered"):
        td.assert_at_least_once("s", "g")


def test_the_ledger_is_told_in_types(tailrace: Space, td: TestDouble) -> None:
    td.load("XADD s 1-1 f v\nXGROUP CREATE s g 0\nXREADGROUP GROUP g c STREAMS s >")
    sums = td.ledger("s", "g")
    assert (sums.added, sums.delivered_once, sums.pending, sums.never_delivered) == (1, 1, 1, 0)
    assert (sums.consumers["c"].deliveries, sums.consumers["c"].acks, sums.consumers["c"].pending) == (1, 0, 1)
    assert "delivered to c" in td.ledger_history("s", "g", "1-1")[0]
    for unkept in (td.assert_at_least_once, td.assert_exactly_once, td.assert_no_leak):
        with pytest.raises(ConditionFailed, match="1-1"):
            unkept("s", "g")
    with pytest.raises(ConditionFailed, match="after 0 ms NO-LEAK"):
        td.wait_no_leak("s", "g", timeout=0)
    connection = tailrace.connect()
    connection.execute("XACK", "s", "g", "1-1")
    for kept in (td.wait_at_least_once, td.wait_exactly_once, td.wait_no_leak, td.wait_no_loss, td.assert_no_loss):
        kept("s", "g")
    with pytest.raises(ConditionFailed, match="its work was not done before"):
        td.assert_exactly_once("s", "g", worked=True)
    td.ledger_on("s")
    td.load("XADD s 2-1 f v\nXREADGROUP GROUP g c STREAMS s >")
    assert td.ledger_worked("s", "g", "2-1", "9-9") == 1
    connection.execute("XACK", "s", "g", "2-1")
    td.wait_at_least_once("s", "g", worked=True)
    td.ledger_off()
    with pytest.raises(ServerError, match="the ledger is off"):
        td.ledger("s", "g")


def test_each_condition_is_waited_for_and_insisted_on(tailrace: Space, td: TestDouble) -> None:
    with reading(tailrace, "XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">") as reply:
        assert "NOGROUP" in str(reply())
    td.load("XGROUP CREATE s g 0 MKSTREAM")
    listener = tailrace.connect()
    listener.execute("SUBSCRIBE", "news")
    with reading(tailrace, "XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"):
        for blocked in (td.wait_blocked, td.assert_blocked):
            blocked(1, key="s", group="g", consumer="c")
        td.load("XADD s 1-1 f v\nXADD s 2-1 f v")
        td.wait_calls("XREADGROUP", 2)
    for pending in (td.wait_pending, td.assert_pending):
        pending("s", "g", ">= 1")
    for lag in (td.wait_lag, td.assert_lag):
        lag("s", "g", "< 2")
    for length in (td.wait_len, td.assert_len):
        length("s", 2)
    for entry in (td.wait_entry, td.assert_entry):
        entry("s", "f", "v")
    for clients in (td.wait_clients, td.assert_clients):
        clients(">= 2")
    for subscribed in (td.wait_subscribed, td.assert_subscribed):
        subscribed("news")
    for calls in (td.wait_calls, td.assert_calls):
        calls("XREADGROUP", 1, consumer="c", errors=True)
    for idle in (td.wait_idle, td.assert_idle):
        idle()
    with pytest.raises(ConditionFailed, match="what gate holds is 0, and not >= 1"):
        td.assert_held("gate")
    with pytest.raises(ConditionFailed, match="none of the 2 entries of s has f w"):
        td.wait_entry("s", "f", "w", timeout=0)


def test_faults_hold_lose_and_are_loaded(tailrace: Space, td: TestDouble) -> None:
    gate = td.fault("GET", before="hold", times=None)
    with reading(tailrace, "GET", "k") as one, reading(tailrace, "GET", "k") as other:
        td.wait_held(gate, 2)
        assert gate.release(1) == 1
        assert td.release(gate.name) == 1
        assert (one(), other()) == (None, None)
    listener = tailrace.connect()
    listener.execute("SUBSCRIBE", "news")
    lost = td.drop_pushes("message", key="news")
    connection = tailrace.connect()
    for text in ("one", "two"):
        connection.execute("PUBLISH", "news", text)
    assert listener.receive() == [b"message", b"news", b"two"]
    assert lost.hits == 1
    assert td.load_faults("f CMD PING BEFORE BUSY\ng CMD ECHO BEFORE NIL") == 2
    td.clear_faults()
    assert connection.execute("PING") == "PONG"


def test_calls_are_found_counted_and_forgotten(tailrace: Space, td: TestDouble) -> None:
    connection = tailrace.connect()
    connection.execute("SET", "k", "v")
    with pytest.raises(ServerError):
        connection.execute("LPUSH", "l", "v")
    [call] = td.calls("SET", key="k")
    assert (call.command, call.reply, call.fault) == ([b"SET", b"k", b"v"], b"+OK\r\n", None)
    assert [call.command[0] for call in td.calls(since=call.number)] == [b"LPUSH"]
    assert (td.count_calls(), td.count_calls(errors=True), td.count_calls("SET", node=0)) == (2, 1, 1)
    assert td.unsupported() == {"lpush": 1}
    td.clear_calls()
    assert td.calls() == []


@pytest.mark.tailrace(clock="frozen:1000000")
def test_the_server_hangs_and_restarts(tailrace: Space, td: TestDouble) -> None:
    td.load("XADD s 1-1 f v\nXGROUP CREATE s g 0")
    td.pause()
    with reading(tailrace, "XADD", "s", "2-1", "f", "v") as reply:
        with pytest.raises(ConditionFailed):
            td.wait_len("s", 2, timeout=0.05)
        td.resume()
        assert reply() == b"2-1"
    td.restart("lose-groups", down=100, loading=100)
    with pytest.raises((OSError, TailraceError)):
        tailrace.connect().execute("PING")
    td.advance(100)
    with pytest.raises(ServerError, match="LOADING"):
        tailrace.connect().execute("XLEN", "s")
    td.advance(100)
    assert tailrace.connect().execute("XINFO", "GROUPS", "s") == []
    td.restart("lose")
    assert tailrace.connect().execute("DBSIZE") == 0


def test_a_worker_is_cut_off(tailrace: Space, td: TestDouble) -> None:
    td.load("XGROUP CREATE s g 0 MKSTREAM")
    with reading(tailrace, "XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">") as reply:
        td.wait_blocked(1)
        assert td.kill_consumer("s", "g", "c") == 1
        assert isinstance(reply(), (OSError, TailraceError))
    with reading(tailrace, "XREAD", "BLOCK", "0", "STREAMS", "s", "$") as reply:
        td.wait_blocked(1, key="s")
        assert td.kill_client(_blocked_client(tailrace)) == 1
        assert isinstance(reply(), (OSError, TailraceError))


def _blocked_client(space: Space) -> int:
    listed = space.connect().execute("CLIENT", "LIST")
    assert isinstance(listed, bytes)
    [line] = [line for line in listed.decode().splitlines() if "cmd=xread " in line]
    return int(line.split()[0].removeprefix("id="))


def test_spaces_begin_with_what_was_kept(tailrace_process: Process) -> None:
    def fill(space: Space) -> None:
        space.td.freeze(1_000_000)
        space.td.load("XADD {a} * f v\nXADD {b} * f v\nXGROUP CREATE {a} g 0")

    tailrace_process.keep("orders", fill)
    assert "orders" in tailrace_process.kept
    with tailrace_process.space(snapshot="orders") as one, tailrace_process.space(snapshot="orders", nodes=3) as three:
        assert one.td.state() == three.td.state()
        assert one.td.now == 1_000_000
        one.td.load("DEL {a}")
        assert three.td.state("{a}") != ""
        with pytest.raises(ConditionFailed, match="never delivered"):
            three.td.assert_at_least_once("{a}", "g")
        one.td.reset()
        assert one.td.state() == three.td.state()
        third = Connection(*three.nodes[2])
        assert third.execute("XLEN", "{a}") == 1
        third.close()
    # What is kept may be that of a cluster, and be replaced.
    tailrace_process.keep("orders", lambda space: space.connect().execute("SET", "{b}", "v"), nodes=3)
    with tailrace_process.space(snapshot="orders") as one:
        assert one.connect().execute("GET", "{b}") == b"v"
    tailrace_process.keep("spread", "SET {a} 1\nSET {b} 2\nSET {c} 3", nodes=3)
    with tailrace_process.space(snapshot="spread", nodes=2) as two:
        assert two.td.state().count(" string ") == 3
    with pytest.raises(TailraceError, match="no snapshot 'jobs' is kept; there are: .*orders"):
        tailrace_process.space(snapshot="jobs")
    with pytest.raises(ServerError, match="NOPE"):
        tailrace_process.keep("wrong", "NOPE")
    assert "wrong" not in tailrace_process.kept
