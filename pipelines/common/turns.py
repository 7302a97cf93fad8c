"""Whose turn it is: what a generation leaves to the others of its pipeline, between two batches."""

import time
from math import inf
from threading import TIMEOUT_MAX, Condition

from infra.settings import Settings
from pipelines.common import lease
from pipelines.common.generation import Generation, Generations, State

REST_SECONDS = 5.0
"""After a live batch of a generation that nobody reads: it leaves the cores to the one that is."""

YIELD_SECONDS = 0.25
"""After a live batch of the one that readers follow, while a candidate catches up. What is read is
older by as much, and still younger than three seconds."""

ALONE = "alone"
"""In a candidate's folder, a file: the others are to wait until it has caught up."""


class Turn:
    """When a generation goes on after a batch. It is told by one thread, and waits in another."""

    def __init__(self) -> None:
        self._told = Condition()
        self._seconds = 0.0

    def tell(self, seconds: float) -> None:
        """How long it is to rest after a live batch; endless: it waits, whatever its pace."""
        with self._told:
            self._seconds = seconds
            self._told.notify_all()

    def wait(self, may_rest: bool, seconds: float = 0.0) -> None:
        """Rest so long, or for as long as is told meanwhile if that is longer.

        Where it may not rest, only wait if what is told is endless.
        """
        began = time.monotonic()
        with self._told:
            while (left := self._rest(may_rest, seconds) - (time.monotonic() - began)) > 0:
                self._told.wait(min(left, TIMEOUT_MAX))

    def _rest(self, may_rest: bool, seconds: float) -> float:
        if may_rest:
            return max(self._seconds, seconds)
        return inf if self._seconds == inf else 0.0


def rest_seconds(settings: Settings, known: Generations, generation: Generation) -> float:
    """How long the generation rests after a live batch, beside those that are known."""
    if waits(settings, known, generation):
        return inf
    if known.promoted is None or known.promoted.number != generation.number:
        return REST_SECONDS
    return YIELD_SECONDS if reading(settings, known) else 0.0


def waits(settings: Settings, known: Generations, generation: Generation) -> bool:
    """Whether the generation waits for a candidate that wants to be alone."""
    candidate = reading(settings, known)
    return (
        candidate is not None
        and candidate.number != generation.number
        and (candidate.folder(settings) / ALONE).exists()
    )


def reading(settings: Settings, known: Generations) -> Generation | None:
    """The candidate while a process of it catches up: for another one nobody gives way."""
    candidate = known.candidate
    if candidate is None or candidate.state is not State.CATCHING_UP:
        return None
    return candidate if lease.is_taken(candidate.folder(settings)) else None


def want_alone(settings: Settings, candidate: Generation) -> None:
    """Let the pipeline's other generations wait until this one has caught up."""
    (candidate.folder(settings) / ALONE).touch()
