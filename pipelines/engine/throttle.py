"""The throttle: the rest of a generation between two batches.

The duty cycle of its pipeline asks for a rest, and so do other generations of the pipeline.
"""

import time
from threading import Condition

from pyspark.sql import DataFrame

from infra.settings import Settings
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.record import Generation, Generations, State
from pipelines.engine.sink import Write

REST_SECONDS = 5.0
"""The rest after a live batch of a generation without readers, in favour of the served one."""

REST_SECONDS_MAX = 5.0
"""The longest rest by the duty cycle: after an unusually long batch answers must not become
unusually old."""

YIELD_SECONDS = 0.25
"""The rest after a live batch of the promoted generation while a candidate catches up. Answers
become older by this rest, and are still younger than three seconds."""


class Throttle:
    """The rest of a generation after a batch. One thread sets it, another one waits."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._seconds = 0.0

    def set(self, seconds: float) -> None:
        """Set the rest after a live batch."""
        with self._changed:
            self._seconds = seconds
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Rest for so many seconds, or for the rest that is set meanwhile if it is longer."""
        began = time.monotonic()
        with self._changed:
            while (left := max(self._seconds, seconds) - (time.monotonic() - began)) > 0:
                self._changed.wait(left)


def throttle_write(write: Write, throttle: Throttle, live: bool, duty_cycle: float = 1.0) -> Write:
    """A function that writes and then rests after a live batch, except after a candidate's first
    one, with which it has caught up.
    """
    begun = False

    def write_and_wait(records: DataFrame, batch: int) -> None:
        nonlocal begun
        started = time.monotonic()
        write(records, batch)
        busy_seconds = time.monotonic() - started
        if live and begun:
            throttle.wait(compute_rest_after(busy_seconds, duty_cycle))
        begun = True

    return write_and_wait


def compute_rest_after(busy_seconds: float, duty_cycle: float) -> float:
    """The seconds to rest after a batch, so that batches take that share of the time."""
    return min(busy_seconds * (1 / duty_cycle - 1), REST_SECONDS_MAX)


def compute_rest_seconds(
    settings: Settings, generations: Generations, generation: Generation
) -> float:
    """The seconds that the generation rests after a live batch, given the other generations.

    The promoted one yields to a candidate only while a running process catches up with it.
    """
    if generations.promoted is None or generations.promoted.number != generation.number:
        return REST_SECONDS
    candidate = generations.candidate
    if candidate is None or candidate.state is not State.CATCHING_UP:
        return 0.0
    return YIELD_SECONDS if lease.is_taken(locate_folder(settings, candidate)) else 0.0
