"""A fault, the promise of a shop under it, and its outcome."""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from infra.settings import Settings


@dataclass(frozen=True)
class Promise:
    """The promise to a reader of the shop, stated before the fault."""

    stays: str
    """What goes on during the fault, in words."""
    answered: bool
    """Whether the API answers every request during the fault."""
    stale_seconds_max: float
    """How old an answer may be at most, beyond the time that the fault itself lasts."""
    healed_seconds_max: float
    """Time from the fault's end until the whole shop is well again, at most."""

    def __str__(self) -> str:
        answers = "every request is answered" if self.answered else "requests may fail meanwhile"
        return (
            f"{self.stays}; {answers}; answers at most {self.stale_seconds_max:g} s older than the "
            f"fault is long; healed within {self.healed_seconds_max:g} s"
        )


@dataclass(frozen=True)
class Scene:
    """The setting of a fault: the shop, the length of a pause, and the random draws."""

    settings: Settings
    parts: Mapping[str, int]
    """The ids of the running processes, by name."""
    pause_seconds: float
    chance: random.Random
    cut: Callable[[], AbstractContextManager[None]] | None = None
    """Cuts the line between Kafka and the pipelines, where the fault prepares one."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong."""

    name: str
    does: str
    """What the fault does, in words."""
    promise: Promise
    refusal: Callable[[Scene], str | None]
    """Why it is not possible here; None: it is."""
    do: Callable[[Scene], str]
    """Does the fault, and returns what was done once it is over."""
    ends: frozenset[str] = frozenset()
    """The parts whose process it ends; each has to run as another process afterwards."""
    prepare: Callable[[Scene], AbstractContextManager[Scene]] = nullcontext
    """Prepares the shop before the fault, and puts it back once it has healed. Not measured."""


@dataclass(frozen=True)
class Checked:
    """The audit of one pipeline after the fault."""

    pipeline: str
    exact: bool
    why: tuple[str, ...] = ()
    """Which rows differ, and what else; empty where it is exact."""


@dataclass(frozen=True)
class Outcome:
    """A fault and its measurements. All durations are in seconds."""

    fault: str
    done: str
    """What was done this time."""
    promise: Promise
    lasted: float
    """From the fault's beginning to its end: nearly zero for a kill, its length for a pause."""
    unanswered: float
    """The longest time without an answer of the API for every pipeline."""
    stale: float
    """The age of the oldest answer that a reader could get."""
    healed: float | None
    """From the fault's end until all was well again; None: not within the limit."""
    lacking: str
    """What was not well at the limit; empty where the shop healed."""
    checked: tuple[Checked, ...] = ()

    @property
    def exact(self) -> bool:
        return bool(self.checked) and all(checked.exact for checked in self.checked)

    @property
    def broken(self) -> tuple[str, ...]:
        """The broken promises, each with the measured value."""
        promise, reasons = self.promise, []
        if promise.answered and self.unanswered:
            reasons.append(
                f"every request is answered: for {self.unanswered:.1f} s there was no answer"
            )
        if self.stale > self.lasted + promise.stale_seconds_max:
            reasons.append(
                f"answers at most {promise.stale_seconds_max:g} s older than the fault is long: "
                f"one was {self.stale:.1f} s old, and the fault took {self.lasted:.1f} s"
            )
        if self.healed is None or self.healed > promise.healed_seconds_max:
            took = "" if self.healed is None else f", it took {self.healed:.1f} s"
            lacking = f": {self.lacking}" if self.lacking else took
            reasons.append(f"healed within {promise.healed_seconds_max:g} s{lacking}")
        for checked in self.checked:
            if not checked.exact:
                reasons.append(f"{checked.pipeline} is exact: {'; '.join(checked.why)}")
        return tuple(reasons)
