"""Processes that a story starts, and kills in the middle of their work."""

import subprocess
import sys


def worker(*arguments):
    """Starts the story that runs once more, as the worker that its arguments describe."""
    command = [sys.executable, sys.argv[0], *arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def await_line(process, expected):
    """Returns when the process has written that line. One that ends before fails the story."""
    for line in process.stdout:
        if line.rstrip() == expected:
            return
    sys.exit(f"the worker ended with {process.wait()} before it said {expected!r}")


def kill(process):
    """Gives the process no chance to say goodbye."""
    process.kill()
    process.wait()
    process.stdout.close()
