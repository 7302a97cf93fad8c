"""What a fault is, what a shop promises under it, and what came of it."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.errors import UserError
from infra.settings import Settings


@dataclass(frozen=True)
class Promise:
    """What a reader of the shop is promised before the fault is done."""

    stays: str
    """What goes on meanwhile, in words."""
    answered: bool
    """Whether the API answers every request meanwhile."""
    stale_seconds_max: float
    """How old an answer may be at most, beyond the time that the fault itself lasts."""
    healed_seconds_max: float
    """How long after the fault's end all of the shop is well again, at most."""

    def __str__(self) -> str:
        answers = "every request is answered" if self.answered else "requests may fail meanwhile"
        return (
            f"{self.stays}; {answers}; answers at most {self.stale_seconds_max:g} s older than the "
            f"fault is long; healed within {self.healed_seconds_max:g} s"
        )


@dataclass(frozen=True)
class Scene:
    """Where a fault is done: a shop, how long a pause lasts, and what is drawn."""

    settings: Settings
    parts: Mapping[str, int]
    """The processes that run, by name, with their ids."""
    pause_seconds: float
    chance: random.Random


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong."""

    name: str
    does: str
    """What is done, in words."""
    promise: Promise
    refusal: Callable[[Scene], str | None]
    """Why it cannot be done here; None: it can."""
    do: Callable[[Scene], str]
    """Does it, and returns what was done once it is over."""
    ends: frozenset[str] = frozenset()
    """The parts whose process ends by it: each has to have another one afterwards."""


@dataclass(frozen=True)
class Checked:
    """What the audit says of one pipeline afterwards."""

    pipeline: str
    exact: bool
    why: tuple[str, ...] = ()
    """Which rows differ, and what else; empty where it is exact."""


@dataclass(frozen=True)
class Outcome:
    """A fault that was done, and what was measured of it. All durations are in seconds."""

    fault: str
    done: str
    promise: Promise
    lasted: float
    """From the fault's begin to its end: of a kill nearly nothing, of a pause its length."""
    unanswered: float
    """The longest time without an answer of the API for every pipeline."""
    stale: float
    """How old the oldest answer was that a reader could get."""
    healed: float | None
    """From the fault's end until all was well again; None: it was not in time."""
    lacking: str
    """What was still lacking then; empty where it healed."""
    checked: tuple[Checked, ...] = field(default=())

    @property
    def exact(self) -> bool:
        return bool(self.checked) and all(one.exact for one in self.checked)

    @property
    def broken(self) -> tuple[str, ...]:
        """The promises that were not kept, each with what was found instead."""
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
        for one in self.checked:
            if not one.exact:
                reasons.append(f"{one.pipeline} is exact: {'; '.join(one.why)}")
        return tuple(reasons)

    def as_document(self) -> dict[str, Any]:
        """For programs."""
        promise = self.promise
        return {
            "fault": self.fault,
            "done": self.done,
            "promise": {
                "stays": promise.stays,
                "answered": promise.answered,
                "stale_seconds_max": promise.stale_seconds_max,
                "healed_seconds_max": promise.healed_seconds_max,
            },
            "lasted_seconds": round(self.lasted, 1),
            "unanswered_seconds": round(self.unanswered, 1),
            "stale_seconds": round(self.stale, 1),
            "healed_seconds": None if self.healed is None else round(self.healed, 1),
            "exact": {one.pipeline: one.exact for one in self.checked},
            "broken": list(self.broken),
        }


class Ineffective(UserError):
    """A fault that was done, and without the effect that makes it one."""

    def __init__(self, fault: str, expected: str, seconds: float) -> None:
        super().__init__(
            f"{fault} should have an effect within {seconds:g} s: {expected}. It has none here."
        )


class Refused(UserError):
    """A fault that cannot be done in this shop."""

    def __init__(self, fault: str, why: str) -> None:
        super().__init__(f"{fault} cannot be done here: {why}")
