"""The wall clock, for the one figure that needs it: how far a pipeline is behind the world."""

import time


def wall_ms() -> int:
    """Milliseconds since the epoch; it places the world's clock and never enters a view."""
    return time.time_ns() // 1_000_000
