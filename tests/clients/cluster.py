"""Which node of a cluster has which keys, learned from one of them without a client library."""

import os
import socket

# How many keys are tried until one lies in each of the nodes' slots.
KEYS_MAX = 10_000


def places(address, client):
    """For each node: another one to begin with, the node itself, and a key that it has."""
    nodes = slots_of(address)
    addresses = list(nodes)
    for number, node in enumerate(addresses):
        for attempt in range(KEYS_MAX):
            key = f"clients:{client.replace(' ', '-')}:{os.getpid()}:{number}:{attempt}"
            if any(slot_of(key.encode()) in slots for slots in nodes[node]):
                yield addresses[number - 1], node, key
                break


def slots_of(address):
    """The ranges of slots of each address."""
    nodes = {}
    for first, last, (host, port, *_rest), *_replicas in call(address, "CLUSTER", "SLOTS"):
        nodes.setdefault(f"{host.decode()}:{port}", []).append(range(first, last + 1))
    return nodes


def slot_of(key):
    """A checksum of 16 bits with the polynomial 0x1021, modulo the number of slots."""
    checksum = 0
    for byte in key:
        checksum ^= byte << 8
        for _bit in range(8):
            checksum <<= 1
            if checksum & 0x10000:
                checksum ^= 0x11021
    return checksum % 16384


def call(address, *words):
    """Sends one command and returns its reply."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"*{len(words)}\r\n".encode())
        for word in words:
            connection.sendall(f"${len(word)}\r\n{word}\r\n".encode())
        with connection.makefile("rb") as replies:
            return read(replies)


def read(replies):
    line = replies.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"*":
        return [read(replies) for _ in range(int(rest))]
    if kind == b"$":
        text = replies.read(int(rest) + 2)[:-2]
        return text
    if kind == b":":
        return int(rest)
    if kind == b"+":
        return rest
    raise SystemExit(f"{line.decode()}: is this a node of a cluster?")
