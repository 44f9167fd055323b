#!/usr/bin/env python3
"""redis-cli's modes: redis_cli.py HOST:PORT. Works in database 9, which has to be empty."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import installs

DATABASE = "9"
STREAM, TEXT, SMALL = "cli:stream", "cli:text", "cli:small"
TEXT_BYTES = 5_000
PIPED = 1_000
WAIT_SECONDS_MAX = 10


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    cli = Cli([installs.redis_cli(), "-h", host, "-p", port, "-n", DATABASE])
    try:
        for mode in (commands, resp3, scan, big_keys, pipe, latency, stat, interactive):
            try:
                mode(cli)
            except AssertionError as error:
                sys.exit(f"{mode.__name__}: {error}")
    finally:
        cli("DEL", STREAM, TEXT, SMALL)


def commands(cli):
    equal(cli("DBSIZE"), "0", f"keys in database {DATABASE} beforehand")
    equal(cli("PING"), "PONG", "PING")
    equal(cli("-r", "3", "PING"), "PONG\nPONG\nPONG", "PING, repeated")
    for n in (1, 2, 3):
        equal(cli("XADD", STREAM, f"{n}-0", "n", n), f"{n}-0", "XADD")
    equal(cli("XRANGE", STREAM, "-", "2"), "1-0\nn\n1\n2-0\nn\n2", "XRANGE")
    shown = '1) 1) "1-0"\n   2) 1) "n"\n      2) "1"'
    equal(cli("--no-raw", "XRANGE", STREAM, "-", "+", "COUNT", 1), shown, "XRANGE, formatted")
    equal(cli("--no-raw", "GET", SMALL), "(nil)", "GET of nothing")
    equal(cli("-x", "SET", TEXT, given="x" * TEXT_BYTES), "OK", "SET from standard input")
    equal(cli("SET", SMALL, "1"), "OK", "SET")
    equal(cli("XGROUP", "CREATE", STREAM, "workers", "0"), "OK", "XGROUP CREATE")
    again = cli("-e", "XGROUP", "CREATE", STREAM, "workers", "0", status=1)
    equal(again, "BUSYGROUP Consumer Group name already exists", "XGROUP CREATE again")

    lines = cli("XINFO", "STREAM", STREAM).splitlines()
    facts = dict(zip(lines[::2], lines[1::2]))
    equal((facts["length"], facts["last-generated-id"]), ("3", "3-0"), "XINFO STREAM")


def resp3(cli):
    matches(cli("-3", "HELLO"), r"^proto 3$", "HELLO")
    cli("XREADGROUP", "GROUP", "workers", "alice", "COUNT", 2, "STREAMS", STREAM, ">")
    shown = cli("-3", "--no-raw", "XINFO", "GROUPS", STREAM)
    matches(shown, r'^1\) 1# "name" => "workers"$', "XINFO GROUPS, formatted")
    matches(shown, r'"lag" => \(integer\) 1$', "XINFO GROUPS, formatted")
    [group] = json.loads(cli("--json", "XINFO", "GROUPS", STREAM))
    facts = (group["pending"], group["entries-read"], group["lag"])
    equal(facts, (2, 2, 1), "XINFO GROUPS as JSON")


def scan(cli):
    equal(set(cli("--scan").split()), {STREAM, TEXT, SMALL}, "--scan")
    equal(cli("--scan", "--pattern", "*:str*"), STREAM, "--scan --pattern")


def big_keys(cli):
    summary = cli("--bigkeys").partition("-------- summary -------")[2]
    matches(summary, r"^Sampled 3 keys in the keyspace!$", "--bigkeys")
    matches(summary, rf"^Biggest stream found '\"{STREAM}\"' has 3 entries$", "--bigkeys")
    matches(summary, rf"^Biggest string found '\"{TEXT}\"' has {TEXT_BYTES} bytes$", "--bigkeys")

    summary = cli("--memkeys").partition("-------- summary -------")[2]
    found = matches(summary, rf"^Biggest string found '\"{TEXT}\"' has (\d+) bytes$", "--memkeys")
    assert int(found[1]) >= TEXT_BYTES, f"--memkeys: {found[0]}, but its value has {TEXT_BYTES}"


def pipe(cli):
    # As a user would write them, and as a program would.
    inline = "".join(f"XADD {STREAM} * n {n}\r\n" for n in range(PIPED))
    encoded = f"*2\r\n$4\r\nXLEN\r\n${len(STREAM)}\r\n{STREAM}\r\n"
    output = cli("--pipe", given=inline + encoded)
    matches(output, rf"^errors: 0, replies: {PIPED + 1}$", "--pipe")
    equal(cli("XLEN", STREAM), str(PIPED + 3), "XLEN after --pipe")
    output = cli("--pipe", given="PING\r\nNONSENSE\r\nPING\r\n", status=1)
    matches(output, r"^errors: 1, replies: 3$", "--pipe with an error in it")


def latency(cli):
    lowest, highest, average, count = map(float, cli("--latency", "-i", "1").split())
    assert count > 0 and lowest <= average <= highest, "--latency: figures"


def stat(cli):
    with Terminal(cli.command + ["--stat", "-i", "1"]) as terminal:
        terminal.read_until(r"------- data ------ -+ load -+")
        for _ in range(2):
            # keys, memory, clients, blocked, requests (+difference), connections
            terminal.read_until(r"\d+ +\d[\d.]*[BKMG] +\d+ +\d+ +\d+ \(\+\d+\) +\d+ *\r\n")


def interactive(cli):
    with Terminal(cli.command) as terminal:
        prompt = rf"\[{DATABASE}\]> "
        terminal.read_until(prompt)
        terminal.write("help xadd\r")
        terminal.read_until(r"XADD\S* \S*key \[NOMKSTREAM\] \[MAXLEN\|MINID \[=\|~\] threshold")
        terminal.read_until(r"summary:\S* \w+")
        terminal.read_until(r"since:\S* 5\.0\.0\s")
        terminal.read_until(r"group:\S* stream\s")
        terminal.read_until(prompt)
        terminal.write(f"xlen {STREAM}\r")
        terminal.read_until(rf"\(integer\) {PIPED + 3}\s")
        terminal.write("quit\r")
        equal(terminal.process.wait(WAIT_SECONDS_MAX), 0, "exit status after quit")


class Cli:
    def __init__(self, command):
        self.command = [str(word) for word in command]

    def __call__(self, *args, given=None, status=0):
        done = subprocess.run(
            self.command + [str(arg) for arg in args],
            input=given or "",
            capture_output=True,
            text=True,
            timeout=3 * WAIT_SECONDS_MAX,
        )
        output = (done.stdout + done.stderr).strip()
        equal(done.returncode, status, f"exit status of {args}, which said {output!r}")
        return output


class Terminal:
    """A program that believes to be in front of a person: it has prompts and does not buffer."""

    def __init__(self, command):
        self.terminal, program = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=program,
            stdout=program,
            stderr=program,
            env={**os.environ, "TERM": "dumb"},
        )
        os.close(program)
        self.unread = ""

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def write(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, pattern):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not (found := re.search(pattern, self.unread)):
            wait = deadline - time.monotonic()
            readable, _, _ = select.select([self.terminal], [], [], max(wait, 0))
            assert readable, f"no {pattern!r} in {self.unread!r}"
            try:
                self.unread += os.read(self.terminal, 4096).decode()
            except OSError:
                raise AssertionError(f"it ended, with no {pattern!r} in {self.unread!r}") from None
        self.unread = self.unread[found.end() :]


def equal(actual, expected, what):
    assert actual == expected, f"{what}: got {actual!r}, expected {expected!r}"


def matches(text, pattern, what):
    found = re.search(pattern, text, re.MULTILINE)
    assert found, f"{what}: no {pattern!r} in {text!r}"
    return found


if __name__ == "__main__":
    main()
