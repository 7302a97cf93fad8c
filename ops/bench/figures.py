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
    history_days: int
    """World days that are replayed, at the default rate: 170,000 receipts each."""
    replays: int
    """How often a log is replayed; the median counts."""
    counted: int
    """Receipts in the log that each system counts, copies apart: whole chunks of ten thousand."""
    age_seconds: float
    """The age of the default shop before it is measured."""
    busy_age_seconds: float
    """The age of the shop with more receipts."""
    probe_seconds: float
    """How long receipts are posted whose way into the views is timed."""
    batch_seconds: float
    """How long the batches of one pipeline are counted."""
    compile_seconds: float
    """How long they are made before, while Java compiles the code of that pipeline."""
    settle_seconds: float
    """How long they are made before they count, where Java has compiled that code already."""
    hour_seconds: float
    """The age of a shop before the growth of its memory counts."""
    slope_seconds: float
    """How long that growth is watched."""


FULL = Scale(
    name="full",
    history_days=10,
    replays=3,
    counted=1_000_000,
    age_seconds=600,
    busy_age_seconds=240,
    probe_seconds=60,
    batch_seconds=40,
    compile_seconds=60,
    settle_seconds=20,
    hour_seconds=3_600,
    slope_seconds=900,
)
QUICK = Scale(
    name="quick",
    history_days=1,
    replays=1,
    counted=200_000,
    age_seconds=30,
    busy_age_seconds=20,
    probe_seconds=10,
    batch_seconds=10,
    compile_seconds=10,
    settle_seconds=5,
    hour_seconds=60,
    slope_seconds=30,
)


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
