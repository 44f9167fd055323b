"""A worker that reads a group, held by its tests: what a suite of one's own looks like."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from tailrace import Fill, Space, TestDouble


@pytest.fixture(scope="session")
def tailrace_snapshots() -> dict[str, Fill]:
    """What tests may begin with: each is made once, and each test that asks for it has a copy."""
    return {"a hundred jobs": "\n".join(f"XADD jobs {number}-0 task resize" for number in range(1, 101))}


@pytest.fixture
def client(tailrace: Space) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(tailrace.url, decode_responses=True) as client:
        client.xgroup_create("jobs", "workers", "0", mkstream=True)
        yield client


def work_once(client: redis.Redis, name: str) -> None:
    """Waits for a job, and acknowledges it."""
    read: Any = client.xreadgroup("workers", name, {"jobs": ">"}, block=5_000)
    for _, entries in read:
        for entry, _ in entries:
            client.xack("jobs", "workers", entry)


def take_over(client: redis.Redis, name: str) -> None:
    """Does what others have left undone for a minute."""
    claimed: Any = client.xautoclaim("jobs", "workers", name, 60_000)
    for entry, _ in claimed[1]:
        client.xack("jobs", "workers", entry)


def wait_in_vain(client: redis.Redis, name: str) -> int:
    """Says how often no job came, until there is nothing to wait for."""
    times = 0
    with contextlib.suppress(redis.ResponseError):
        while not client.xreadgroup("workers", name, {"jobs": ">"}, block=5_000):
            times += 1
    return times


def test_a_job_is_waited_for(client: redis.Redis, td: TestDouble) -> None:
    worker = threading.Thread(target=work_once, args=(client, "alice"))
    worker.start()
    td.wait_blocked(1, group="workers")
    client.xadd("jobs", {"task": "resize"})
    td.wait_drained("jobs", "workers")
    worker.join()
    td.assert_exactly_once("jobs", "workers")


@pytest.mark.tailrace(clock="frozen:1764374400000")
def test_a_job_of_a_dead_worker_is_taken_over_after_a_minute(client: redis.Redis, td: TestDouble) -> None:
    assert client.xadd("jobs", {"task": "resize"}) == "1764374400000-0"
    client.xreadgroup("workers", "alice", {"jobs": ">"})
    assert td.kill_consumer("jobs", "workers", "alice") == 1
    td.advance(59_999)
    take_over(client, "bob")
    td.assert_pending("jobs", "workers", 1)
    td.advance(1)
    take_over(client, "bob")
    td.assert_at_least_once("jobs", "workers")


@pytest.mark.tailrace(clock="frozen:1764374400000")
def test_workers_go_round_as_often_as_in_ten_minutes(client: redis.Redis, td: TestDouble) -> None:
    with ThreadPoolExecutor() as workers:
        rounds = [workers.submit(wait_in_vain, client, name) for name in ("alice", "bob", "carol")]
        td.wait_blocked(3, group="workers")
        td.run(600_000, settle=3)
        client.delete("jobs")
        assert [times.result() for times in rounds] == [120, 120, 120]


def test_an_acknowledgement_whose_reply_is_lost_has_happened(client: redis.Redis, td: TestDouble) -> None:
    client.xadd("jobs", {"task": "resize"})
    lost = td.fault("XACK", after="close", times=1)
    with pytest.raises(redis.ConnectionError):
        work_once(client, "alice")
    assert lost.hits == 1
    assert client.xack("jobs", "workers", "0-1") == 0  # On a new connection.
    td.assert_drained("jobs", "workers")
    td.assert_exactly_once("jobs", "workers")


@pytest.mark.tailrace(snapshot="a hundred jobs")
def test_a_worker_goes_through_all_there_is(client: redis.Redis, td: TestDouble) -> None:
    for _ in range(2):
        td.save("begun")
        work_once(client, "alice")
        td.assert_drained("jobs", "workers")
        assert td.ledger("jobs", "workers").consumers["alice"].acks == 100
        td.restore("begun")
        td.assert_lag("jobs", "workers", 100)


@pytest.mark.tailrace(nodes=3)
def test_a_cluster_is_one_line_away(tailrace: Space, td: TestDouble) -> None:
    with redis.RedisCluster.from_url(tailrace.url) as client:
        for number in range(30):
            client.xadd(f"jobs:{number}", {"task": "resize"})
        td.assert_len("jobs:7", 1)
        assert len(td.calls("XADD")) >= 30
