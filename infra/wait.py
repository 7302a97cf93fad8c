"""Waits for a condition, with a limit."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Answer = TypeVar("Answer")

POLL_SECONDS = 0.1
POLL_SECONDS_MIN, POLL_SECONDS_MAX = 0.02, 0.5
REST = 9
"""The pause is this many times as long as the question took: the awaited work needs the cores
too."""


def wait_for(
    happened: Callable[[], bool],
    seconds_max: float,
    poll_seconds: float = POLL_SECONDS,
) -> bool:
    """Ask repeatedly until it has happened or the time is over. Returns whether it has."""
    return _ask(happened, seconds_max, lambda _: poll_seconds, lambda answer: answer)


def ask_until(
    question: Callable[[], Answer],
    is_last: Callable[[Answer], bool],
    seconds_max: float,
    poll_seconds: float = POLL_SECONDS,
) -> Answer:
    """Ask repeatedly until `is_last` holds or the time is over. Returns the last answer."""
    return _ask(question, seconds_max, lambda _: poll_seconds, is_last)


def wait_until(condition: Callable[[], bool], what: str, seconds_max: float = 30.0) -> None:
    """Wait for the condition. Raises TimeoutError if it does not hold in time."""
    if not _ask(condition, seconds_max, _compute_rest_seconds, lambda answer: answer):
        raise TimeoutError(f"Expected within {seconds_max:g} s, but it did not happen: {what}")


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


def _compute_rest_seconds(asking_seconds: float) -> float:
    return min(max(REST * asking_seconds, POLL_SECONDS_MIN), POLL_SECONDS_MAX)


def _ask(
    question: Callable[[], Answer],
    seconds_max: float,
    rest_seconds: Callable[[float], float],
    is_last: Callable[[Answer], bool],
) -> Answer:
    """`rest_seconds`: the pause before the next question, by the seconds that the last took."""
    deadline = time.monotonic() + seconds_max
    pause = threading.Event()
    while True:
        began = time.monotonic()
        answer = question()
        now = time.monotonic()
        if is_last(answer) or now >= deadline:
            return answer
        pause.wait(rest_seconds(now - began))
