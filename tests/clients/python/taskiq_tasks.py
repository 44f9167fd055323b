"""A queue of tasks with taskiq on a stream: HOST:PORT [worker QUEUE NAME].

A task is sent, run by a worker in a process of its own, and its result read. A worker that is killed
in the middle of a task leaves it pending, and another one runs it. Who looks for such tasks holds a
lock, which is given back by a script inside of MULTI.
"""

import asyncio
import logging
import sys

import redis.asyncio
from taskiq.api import run_receiver_task
from taskiq_redis import RedisAsyncResultBackend
from taskiq_redis import RedisStreamBroker

from checks import equal
from checks import until
from checks import unused_key
from killed import await_line
from killed import kill
from killed import worker

GROUP = "workers"
SECONDS_MAX = 30

# What is pending for longer than this, another worker may take.
IDLE_MS = 300


async def story(address):
    queue = unused_key("taskiq")
    db = redis.asyncio.Redis.from_url(f"redis://{address}", decode_responses=True)
    broker, double, once_begun = queue_of(address, queue, "producer")
    await broker.startup()
    scripts = await scripts_run(db)

    alice = worker(address, "worker", queue, "alice")
    await_line(alice, "ready")
    tasks = [await double.kiq(n) for n in range(20)]
    results = [(await result_of(task)).return_value for task in tasks]
    equal(results, list(range(0, 40, 2)), "results")
    failed = await result_of(await double.kiq("no number"))
    equal((failed.is_err, type(failed.error)), (True, ValueError), "a task that fails")
    await until(0, lambda: pending(db, queue), "tasks that alice has not acknowledged")

    cut_short = await once_begun.kiq()
    await_line(alice, "begun")
    kill(alice)
    await until(1, lambda: idle(db, queue), "tasks that were cut short")
    equal(await cut_short.is_ready(), False, "the task that was cut short has a result")

    # A worker looks for what others left behind when it has got something itself.
    bob = worker(address, "worker", queue, "bob")
    await_line(bob, "ready")
    await double.kiq(1)
    finished = await result_of(cut_short)
    equal(finished.return_value, "finished by bob", "the task that was cut short")
    await until(0, lambda: pending(db, queue), "tasks not acknowledged at last")
    kill(bob)

    equal(await scripts_run(db) > scripts, True, "locks were given back by a script")
    consumers = [row["name"] for row in await db.xinfo_consumers(queue, GROUP)]
    equal(consumers, ["alice", "bob"], "consumers")
    await db.delete(*[key async for key in db.scan_iter(match=f"*{queue}*")])
    await broker.shutdown()
    await db.aclose()


def queue_of(address, queue, name):
    """A broker and its tasks, as the producer and each worker have them."""
    url = f"redis://{address}"
    broker = RedisStreamBroker(
        url,
        queue_name=queue,
        consumer_group_name=GROUP,
        consumer_name=name,
        idle_timeout=IDLE_MS,
        xread_block=100,
    ).with_result_backend(RedisAsyncResultBackend(url, prefix_str=queue, result_ex_time=60))

    @broker.task("double")
    async def double(n):
        return 2 * int(n)

    @broker.task("once-begun")
    async def once_begun():
        if name == "alice":
            print("begun", flush=True)
            await asyncio.Event().wait()
        return f"finished by {name}"

    return broker, double, once_begun


async def work(address, queue, name):
    # That a task fails is what one of them is for.
    logging.disable(logging.ERROR)
    broker, *_ = queue_of(address, queue, name)
    await broker.startup()
    print("ready", flush=True)
    await run_receiver_task(broker)


async def result_of(task):
    return await task.wait_result(check_interval=0.01, timeout=SECONDS_MAX)


async def pending(db, queue):
    return (await db.xpending(queue, GROUP))["pending"]


async def idle(db, queue):
    """How many tasks are pending for long enough to be taken over."""
    return len(await db.xpending_range(queue, GROUP, "-", "+", 10, idle=IDLE_MS))


async def scripts_run(db):
    calls = (await db.info("commandstats")).get("cmdstat_evalsha", {"calls": 0})
    return calls["calls"]


if __name__ == "__main__":
    if len(sys.argv) == 2:
        asyncio.run(story(sys.argv[1]))
    else:
        address, _worker, queue, name = sys.argv[1:]
        asyncio.run(work(address, queue, name))
