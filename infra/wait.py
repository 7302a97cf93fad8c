"""Waits for a condition, with a limit."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Answer = TypeVar("Answer")

POLL_SECONDS = 0.1


def wait_for(
    happened: Callable[[], bool], seconds_max: float, poll_seconds: float = POLL_SECONDS
) -> bool:
    """Ask repeatedly until it has happened or the time is over. Returns whether it has."""
    return ask_until(happened, bool, seconds_max, poll_seconds)


def wait_until(condition: Callable[[], bool], what: str, seconds_max: float = 30.0) -> None:
    """Wait for the condition. Raises TimeoutError if it does not hold in time."""
    if not wait_for(condition, seconds_max):
        raise TimeoutError(f"Expected within {seconds_max:g} s, but it did not happen: {what}")


def ask_until(
    question: Callable[[], Answer],
    is_last: Callable[[Answer], bool],
    seconds_max: float,
    poll_seconds: float = POLL_SECONDS,
) -> Answer:
    """Ask repeatedly until `is_last` holds or the time is over. Returns the last answer.

    It rests as long as the question took, at least: the awaited work needs the cores too.
    """
    deadline = time.monotonic() + seconds_max
    pause = threading.Event()
    while True:
        began = time.monotonic()
        answer = question()
        ended = time.monotonic()
        if is_last(answer) or ended >= deadline:
            return answer
        pause.wait(max(poll_seconds, ended - began))


@contextmanager
def repeat_in_thread(work: Callable[[], object], rest_seconds: float) -> Iterator[None]:
    """Repeat the work in a thread until the block ends, with a rest before each time."""
    stop = threading.Event()

    def work_on() -> None:
        while not stop.wait(rest_seconds):
            work()

    thread = threading.Thread(target=work_on)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
