"""A connection that speaks RESP2: enough to hold the server, without a client library."""

from __future__ import annotations

import socket
from typing import TypeAlias

Reply: TypeAlias = "int | bytes | str | None | list[Reply]"
Word: TypeAlias = "str | bytes | int | float"


class TailraceError(Exception):
    """Whatever this package raises."""


class ServerError(TailraceError):
    """The server answered with an error. Its text is that of the server, with the code in front."""


class Connection:
    """One connection to a server."""

    def __init__(self, host: str, port: int, timeout: float | None = None) -> None:
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self._socket.makefile("rb")

    def close(self) -> None:
        self._input.close()
        self._socket.close()

    def execute(self, *words: Word) -> Reply:
        """Sends one command and waits for its reply."""
        self._socket.sendall(_encode(words))
        return self.receive()

    def execute_all(self, *commands: tuple[Word, ...]) -> list[Reply]:
        """Sends several commands in one piece. Raises the first error, once all replies are there."""
        self._socket.sendall(b"".join(map(_encode, commands)))
        replies: list[Reply] = []
        error: ServerError | None = None
        for _ in commands:
            try:
                replies.append(self.receive())
            except ServerError as reason:
                error = error or reason
        if error:
            raise error
        return replies

    def receive(self) -> Reply:
        """Waits for a reply, or for what the server says unasked."""
        line = self._input.readline()
        if not line.endswith(b"\r\n"):
            raise TailraceError("the server closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"+":
            return text.decode()
        if kind == b"-":
            raise ServerError(text.decode(errors="backslashreplace"))
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == b"-1" else self._bulk(int(text))
        if kind == b"*":
            return None if text == b"-1" else self._array(int(text))
        raise TailraceError(f"{line!r} is no reply of RESP2")

    def _bulk(self, size: int) -> bytes:
        data = self._input.read(size + 2)
        if len(data) < size + 2:
            raise TailraceError("the server closed the connection")
        return data[:-2]

    def _array(self, size: int) -> list[Reply]:
        # To its end, even if an error is an element of it.
        replies: list[Reply] = []
        for _ in range(size):
            try:
                replies.append(self.receive())
            except ServerError as error:
                replies.append(str(error))
        return replies


def _encode(words: tuple[Word, ...]) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def text(reply: Reply) -> str:
    """A reply as text, whatever it is."""
    if isinstance(reply, bytes):
        return reply.decode(errors="backslashreplace")
    return "" if reply is None else str(reply)


def number(reply: Reply) -> int:
    """A reply that is a number."""
    if not isinstance(reply, int):
        raise TailraceError(f"{reply!r} is no number")
    return reply


def array(reply: Reply) -> list[Reply]:
    """A reply that is an array."""
    if not isinstance(reply, list):
        raise TailraceError(f"{reply!r} is no array")
    return reply


def fields(reply: Reply) -> dict[str, Reply]:
    """A reply whose elements are names and values in turn."""
    parts = array(reply)
    return {text(name): value for name, value in zip(parts[::2], parts[1::2])}
