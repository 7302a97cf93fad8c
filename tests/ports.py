"""Free ports, so that tests run beside a shop and beside each other."""

import secrets
import socket
from contextlib import closing

OFFSETS = (0, 1092, 1093)
"""The ports of a shop, from its PORT_BASE."""

LOWEST, HIGHEST = 20_000, 31_000
"""Where to look. Above what it leads to, the system gives out ports of its own."""

TRIES_MAX = 1_000


def free_port_base() -> int:
    """A PORT_BASE all of whose ports are free now.

    Drawn, not counted up: two test runs that start together would find the same one free.
    """
    for _ in range(TRIES_MAX):
        base = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if all(free(base + offset) for offset in OFFSETS):
            return base
    raise RuntimeError(f"There should be three free ports from {LOWEST} on, but are not.")


def free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
