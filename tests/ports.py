"""Free ports, so that tests run beside a shop and beside each other."""

import os
import secrets
import socket
from contextlib import closing

OFFSETS = (0, 1092, 1093)
"""The ports of a shop, from its PORT_BASE."""

LOWEST, HIGHEST = 20_000, 31_000
"""Where to look. Above what it leads to, the system gives out ports of its own."""

TRIES_MAX = 1_000

RUNNERS_MAX = 6
STEP = 2 * RUNNERS_MAX
"""Between two bases of one runner. It divides the second of OFFSETS, so a shop's ports have two
remainders by it, which no other runner's have: what one has drawn and does not yet use, none else
draws."""


def free_port_base() -> int:
    """A PORT_BASE all of whose ports are free now.

    Drawn, not counted up: two test runs that start together would find the same one free.
    """
    for _ in range(TRIES_MAX):
        base = LOWEST + STEP * secrets.randbelow((HIGHEST - LOWEST) // STEP) + 2 * runner()
        if all(free(base + offset) for offset in OFFSETS):
            return base
    raise RuntimeError(f"There should be three free ports from {LOWEST} on, but are not.")


def runner() -> int:
    """Which of the test runners this is, from 0 to RUNNERS_MAX - 1."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return int(name.removeprefix("gw")) % RUNNERS_MAX


def free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
