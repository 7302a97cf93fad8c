"""Free ports, so that tests run beside a shop and beside each other."""

import socket
from contextlib import closing

OFFSETS = (0, 1092, 1093)
"""The ports of a shop, from its PORT_BASE."""


def free_port_base() -> int:
    """A PORT_BASE all of whose ports are free now."""
    for base in range(21_000, 40_000, 7):
        if all(free(base + offset) for offset in OFFSETS):
            return base
    raise RuntimeError("There should be three free ports between 21000 and 41093, but are not.")


def free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
