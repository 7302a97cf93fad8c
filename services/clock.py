"""The wall clock, for figures about the present. It never enters a view."""

import time


def get_wall_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
