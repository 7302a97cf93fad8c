"""Finds free ports, so that several shops can run on one machine."""

import secrets
import socket

OFFSETS = (0, 1092, 1093)
"""The ports of a shop, from its PORT_BASE."""

LOWEST, HIGHEST = 20_000, 31_000
"""The range of PORT_BASE. The system's ephemeral ports lie above its ports."""

TRIES_MAX = 1_000

SHARES = 6
STEP = 2 * SHARES
"""The distance between two bases of one share. It divides the second of OFFSETS, so a shop's ports
have two remainders by it, which no other share's ports have. So no share draws a port that another
has drawn and does not use yet."""


def free_port_base(share: int = 0) -> int:
    """A PORT_BASE whose ports are all free now.

    It is random: two processes that count up would find the same one. Processes that draw at the
    same time each use another `share`, from 0 to SHARES - 1.
    """
    for _ in range(TRIES_MAX):
        base = LOWEST + STEP * secrets.randbelow((HIGHEST - LOWEST) // STEP) + 2 * share
        if all(free(base + offset) for offset in OFFSETS):
            return base
    raise RuntimeError(
        f"Expected three free ports in a row from {LOWEST} on, found none. "
        "Stop a program that holds one."
    )


def free(port: int) -> bool:
    """Whether a server can listen on this machine's port."""
    with socket.socket() as probe:
        # As servers do: a port with only old connections in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
