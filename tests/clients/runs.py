"""Which clients and frameworks are run, in which versions, and how each is installed and started."""

import os
import signal
import subprocess
import sys
import time

import cluster
import installs

SECONDS_MAX = 60


def all_runs():
    yield from clients()
    yield from caches()
    yield from frameworks()


def clients():
    # The protocol is the one that the client speaks by default unless "explicit" is said.
    yield redis_py("4.6.0", "sync", 2)
    yield redis_py("4.6.0", "asyncio", 2)
    for manner in ("sync", "asyncio"):
        yield redis_py("5.3.1", manner, 2)
        yield redis_py("5.3.1", manner, 3, "explicit")
    for manner in ("sync", "asyncio"):
        yield redis_py("8.1.0", manner, 3)
        yield redis_py("8.1.0", manner, 2, "explicit")
    for manner in ("sync", "asyncio"):
        yield valkey_py("6.2.0", manner, 2)
        yield valkey_py("6.2.0", manner, 3, "explicit")
    yield glide("2.6.0", 3)
    yield glide("2.6.0", 2, "explicit")
    yield node("node-redis", "4.7.1", 2)
    yield node("node-redis", "6.3.1", 3)
    yield node("node-redis", "6.3.1", 2, "explicit")
    yield node("ioredis", "5.11.1", 2)
    yield node("ioredis", "6.0.0", 3)
    yield node("ioredis", "6.0.0", 2, "explicit")
    yield node("iovalkey", "0.4.0", 2, module="iovalkey", script="ioredis")
    yield rust("redis-rs", "1.8.1", "redis_rs", 2)
    yield rust("redis-rs", "1.8.1", "redis_rs", 3, "explicit")
    yield rust("redis-rs sync", "1.8.1", "redis_rs_sync", 2)
    yield rust("fred", "10.1.0", "fred", 2)
    yield rust("fred", "10.1.0", "fred", 3, "explicit")
    yield rust("rustis", "0.27.2", "rustis", 3)
    yield redis_rb("4.8", 2)
    yield Run("redis-cli", "7.0", 2, redis_cli)


def caches():
    yield Run("redis-py caching", "8.1.0", 3, redis_py_caching)
    yield Run("node-redis caching", "6.3.1", 3, node_redis_caching)


def frameworks():
    yield python_framework("faststream", "0.7.8", "faststream_groups")
    yield python_framework("taskiq-redis", "1.2.4", "taskiq_tasks")
    yield python_framework("channels_redis", "4.3.0", "channels_layer")
    yield broadcaster("redis")
    yield broadcaster("redis-stream")
    yield python_framework("walrus", "0.9.8", "walrus_streams")
    for kind, version in (("streams", "0.3.1"), ("channels", "8.3.0")):
        for library in ("ioredis-6", "node-redis-6"):
            yield socket_io(kind, library, version)
    yield node_framework("moleculer channels", "0.1.8", "moleculer_channels")
    yield node_framework("graphql subscriptions", "2.7.0", "graphql_subscriptions")
    yield Run("sea-streamer", "0.5.2", None, sea_streamer)


def cluster_clients():
    # Each with its default options; without a cluster they are run with others, too.
    yield redis_py("4.6.0", "sync", 2, "cluster")
    for manner in ("sync", "asyncio"):
        yield redis_py("5.3.1", manner, 2, "cluster")
    for manner in ("sync", "asyncio"):
        yield redis_py("8.1.0", manner, 3, "cluster")
    for manner in ("sync", "asyncio"):
        yield valkey_py("6.2.0", manner, 2, "cluster")
    yield glide("2.6.0", 3, "cluster")
    yield node("node-redis", "4.7.1", 2, "cluster")
    yield node("node-redis", "6.3.1", 3, "cluster")
    yield node("ioredis", "5.11.1", 2, "cluster")
    yield node("ioredis", "6.0.0", 3, "cluster")
    yield node("iovalkey", "0.4.0", 2, "cluster", module="iovalkey", script="ioredis")
    yield rust("redis-rs", "1.8.1", "redis_rs", 2, "cluster")
    yield rust("redis-rs sync", "1.8.1", "redis_rs_sync", 2, "cluster")
    yield rust("fred", "10.1.0", "fred", 2, "cluster")
    yield rust("rustis", "0.27.2", "rustis", 3, "cluster")
    yield redis_rb("4.8", 2, "cluster")


class Run:
    def __init__(self, name, version, protocol, command):
        """`command` installs the client and returns what to run and with which environment.

        `protocol` is None where a framework leaves that to the client that it is built on.
        """
        self.name = name
        self.version = version
        self.protocol = protocol
        self.command = command

    def result(self, address):
        """What went wrong, if something did, and how long the story took."""
        return self.results([(address, {})])

    def result_in_cluster(self, address):
        """The same of a story that is told of each node: with one of its keys, begun at another."""
        places = cluster.places(address, self.name)
        return self.results(
            (seed, {"CLIENTS_NODE": node, "CLIENTS_KEY": key}) for seed, node, key in places
        )

    def results(self, places):
        error, seconds = "no story was told", 0
        for address, more in places:
            started = time.monotonic()
            try:
                command, environment = self.command(address)
                started = time.monotonic()
                error = told(command, {**environment, **more})
            except installs.InstallFailed as failure:
                error = str(failure)
            seconds += time.monotonic() - started
            if error:
                break
        return error, seconds


def told(command, environment):
    """What a command wrote if it failed or did not end in time; its own processes end with it."""
    process = subprocess.Popen(
        [str(word) for word in command],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return f"it did not end within {SECONDS_MAX} s\n{output}"
    return (output or f"exit status {process.returncode}") if process.returncode else None


def redis_py(version, manner, protocol, choice="default"):
    return python_client("redis", version, manner, protocol, choice)


def valkey_py(version, manner, protocol, choice="default"):
    return python_client("valkey", version, manner, protocol, choice)


def python_client(library, version, manner, protocol, choice):
    def command(address):
        script = installs.HERE / "python/redis_py.py"
        folder = installs.python_package(f"{library}=={version}")
        command = [sys.executable, script, library, address, manner, protocol, choice]
        return command, {"PYTHONPATH": str(folder)}

    return Run(f"{library}-py {manner}", version, protocol, command)


def glide(version, protocol, choice="default"):
    def command(address):
        script = installs.HERE / "python/glide_py.py"
        folder = installs.python_package(f"valkey-glide=={version}")
        return [sys.executable, script, address, protocol, choice], {"PYTHONPATH": str(folder)}

    return Run("valkey-glide python", version, protocol, command)


def node(name, version, protocol, choice="default", module=None, script=None):
    module = module or f"{name}-{version.partition('.')[0]}"
    script = installs.HERE / "node" / f"{(script or name).replace('-', '_')}.js"

    def command(address):
        environment = {"NODE_PATH": str(installs.node_modules())}
        return ["node", script, module, address, protocol, choice], environment

    return Run(name, version, protocol, command)


def rust(name, version, binary, protocol, choice="default"):
    def command(address):
        return [installs.rust_binary("tests/clients/rust", binary), address, protocol, choice], {}

    return Run(name, version, protocol, command)


def redis_rb(version, protocol, choice="default"):
    def command(address):
        script = installs.HERE / "ruby/redis_rb.rb"
        return [installs.ruby(), script, address, protocol, choice], {}

    return Run("redis-rb", version, protocol, command)


def redis_cli(address):
    return [sys.executable, installs.HERE / "redis_cli.py", address], {}


def redis_py_caching(address):
    folder = installs.python_package("redis==8.1.0")
    script = installs.HERE / "python/caching.py"
    return [sys.executable, script, address], {"PYTHONPATH": str(folder)}


def node_redis_caching(address):
    script = installs.HERE / "node/caching.js"
    return ["node", script, "node-redis-6", address], {"NODE_PATH": str(installs.node_modules())}


def python_framework(name, version, script, *arguments, needs="frameworks"):
    def command(address):
        folder = installs.python_requirements(needs)
        command = [sys.executable, installs.HERE / f"python/{script}.py", address, *arguments]
        return command, {"PYTHONPATH": str(folder)}

    return Run(name, version, None, command)


def broadcaster(scheme):
    name, script = f"broadcaster {scheme}", "broadcaster_events"
    return python_framework(name, "0.3.1", script, scheme, needs="broadcaster")


def node_framework(name, version, script):
    def command(address):
        environment = {"NODE_PATH": str(installs.node_modules())}
        return ["node", installs.HERE / f"node/{script}.js", address], environment

    return Run(name, version, None, command)


def socket_io(kind, library, version):
    def command(address):
        environment = {"NODE_PATH": str(installs.node_modules())}
        return ["node", installs.HERE / "node/socket_io.js", kind, library, address], environment

    return Run(f"socket.io {kind} {library}", version, None, command)


def sea_streamer(address):
    return [installs.rust_binary("tests/clients/rust", "sea_streamer"), address], {}
