"""What a part of the bench is given, and what it yields."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from pydantic import TypeAdapter

from infra.clock import get_wall_ms


@dataclass(frozen=True)
class Scale:
    """How much the bench measures: everything, or enough to show that it works."""

    name: str
    replays: int
    """How often a log is replayed; the median counts."""
    share: float
    """The part of all days, records and seconds that are measured."""


FULL = Scale("full", replays=3, share=1.0)
QUICK = Scale("quick", replays=1, share=0.1)


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


GIB = 1024**3

OUTCOMES = TypeAdapter(dict[str, Outcome])
"""The outcome of each part, by its name: what a report of the bench holds."""


def describe_machine() -> dict[str, Any]:
    """The day and the machine; cores and load say how much of a figure is noise."""
    return {
        "measured_on": f"{datetime.fromtimestamp(get_wall_ms() / 1000, UTC):%Y-%m-%d}",
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / GIB, 1),
        "load_per_minute": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def write_outcomes(file: Path, outcomes: Mapping[str, Outcome]) -> None:
    file.write_bytes(OUTCOMES.dump_json(dict(outcomes), indent=1) + b"\n")
