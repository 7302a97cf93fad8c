"""The wall clock, to which the world clock is tied."""

import time


def to_speed_milli(speed: float) -> int:
    """A speed factor in thousandths, as the clock holds it; the slowest clock still moves."""
    return max(1, round(speed * 1000))


def get_wall_ms() -> int:
    """The wall clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
