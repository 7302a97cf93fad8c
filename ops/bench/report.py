"""The figures, as lines for a person and as a document for a program."""

import os
import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Any

import psutil
from pydantic import TypeAdapter

from infra.clock import get_wall_ms
from ops.bench.figures import Aim, Figure, Outcome

WIDTH = 80
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


def render_lines(part: str, outcome: Outcome) -> Iterator[str]:
    """The part's figures, no line wider than WIDTH, and why there are no more."""
    for figure in outcome.figures:
        measured = f"{render_number(figure.measured)} {figure.unit}"
        aim, verdict = render_aim(figure.aim, figure.measured)
        yield f"  {figure.what:<38}{measured:>18}  {aim:<11}{verdict}".rstrip()
        yield from _wrap(render_yardstick(figure), indent=4)
        yield from _wrap(figure.note, indent=4)
    if outcome.failure:
        yield from _wrap(f"{part} failed. {outcome.failure}", indent=2)


def render_aim(aim: Aim | None, measured: float, unit: str = "") -> tuple[str, str]:
    """The aim, and whether it was reached. Its unit is left out where the column before has it."""
    if aim is None:
        return "", ""
    bound = f"{'≥' if aim.at_least else '≤'} {render_number(aim.bound)}{unit}"
    return bound, "met" if aim.is_met(measured) else "missed"


def render_yardstick(figure: Figure) -> str:
    """What the figure is measured beside, and its share of that; empty where there is nothing."""
    if figure.yardstick is None:
        return ""
    percent = 100 * figure.measured / figure.yardstick.measured
    aim, verdict = render_aim(figure.yardstick.aim, percent, " %")
    beside = f"{figure.yardstick.what}: {render_number(figure.yardstick.measured)} {figure.unit}"
    judged = f"; aim {aim}, {verdict}" if aim else ""
    return f"{beside}, of which it is {render_number(percent)} %{judged}"


def render_number(value: float) -> str:
    """The value with at least three digits: further ones are noise."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _wrap(text: str, indent: int) -> Iterator[str]:
    margin = " " * indent
    for line in text.splitlines():
        yield from wrap(line, WIDTH, initial_indent=margin, subsequent_indent=margin)
