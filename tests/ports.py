"""Free ports for the tests of one runner."""

import os

from infra import ports


def free_port_base() -> int:
    """A PORT_BASE that no other test runner draws, and all of whose ports are free now."""
    return ports.free_port_base(find_runner())


def find_runner() -> int:
    """Which of the test runners this is, from 0 to SHARES - 1."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return int(name.removeprefix("gw")) % ports.SHARES
