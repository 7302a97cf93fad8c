"""The wall clock, from which the world clock is computed."""

import time


def to_speed_milli(speed: float) -> int:
    """The speed factor in thousandths, as a clock holds it: at least 1, so every clock moves."""
    return max(1, round(speed * 1000))


def get_wall_ms() -> int:
    """Wall time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
