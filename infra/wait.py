"""Waiting for the thing itself, with a limit."""

import threading
import time
from collections.abc import Callable

POLL_SECONDS = 0.1


def until(
    happened: Callable[[], bool],
    seconds_max: float,
    poll_seconds: float = POLL_SECONDS,
) -> bool:
    """Ask again and again until it happened, or the time is over; returns whether it did."""
    deadline = time.monotonic() + seconds_max
    pause = threading.Event()
    while not happened():
        if time.monotonic() >= deadline:
            return False
        pause.wait(poll_seconds)
    return True
