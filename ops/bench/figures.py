"""What a part of the bench is given, and what it yields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scale:
    """How much the bench measures: everything, or enough to show that it works."""

    name: str
    part: int
    """The bench measures one so-many-th of everything."""

    def reduce(self, count: int) -> int:
        """How often something is done that is done so often at full scale; at least once."""
        return max(1, count // self.part)

    def shorten(self, seconds: float) -> float:
        return seconds / self.part


FULL = Scale("full", 1)
QUICK = Scale("quick", 10)


@dataclass(frozen=True)
class Aim:
    """The bound that a value should reach, in its own unit."""

    bound: float
    at_least: bool

    def is_met(self, measured: float) -> bool:
        return measured >= self.bound if self.at_least else measured <= self.bound


def aim_at_least(bound: float) -> Aim:
    return Aim(bound, at_least=True)


def aim_at_most(bound: float) -> Aim:
    return Aim(bound, at_least=False)


@dataclass(frozen=True)
class Yardstick:
    """Something simpler, measured in the same run on the same machine."""

    what: str
    measured: float
    """In the figure's unit."""
    aim: Aim | None = None
    """The aim for the figure as a percentage of the yardstick."""


@dataclass(frozen=True)
class Figure:
    what: str
    measured: float
    unit: str
    aim: Aim | None = None
    yardstick: Yardstick | None = None
    note: str = ""
    """What exactly the figure measures."""


@dataclass(frozen=True)
class Outcome:
    """What one run of a part has yielded."""

    machine: Mapping[str, Any]
    """The day and the machine, as `describe_machine` has them."""
    scale: str
    figures: tuple[Figure, ...]
    failure: str | None = None
    """Why there are no more figures; None: the part is complete."""
