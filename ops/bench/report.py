"""The figures, as a table for a person and as a document for a program."""

import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

import psutil

from ops.bench.figures import Aim, Figure, Outcome
from ops.bench.scale import Scale
from services.clock import get_wall_ms

WIDTH = 80
WHAT_WIDTH, MEASURED_WIDTH, AIM_WIDTH = 32, 21, 11
GIB = 1024**3


def render_heads() -> str:
    return _render_row("", "measured", "aim", "")


def render_lines(outcome: Outcome) -> Iterator[str]:
    """The part's rows, none wider than WIDTH, and why there are no more."""
    for figure in outcome.figures:
        yield from render_rows(figure)
    if outcome.failure:
        yield from _wrap(f"{outcome.part} failed. {outcome.failure}", indent=2)


def render_rows(figure: Figure) -> Iterator[str]:
    measured = f"{render_number(figure.measured)} {figure.unit}"
    yield _render_row(figure.what, measured, *render_aim(figure.aim, figure.measured))
    if figure.yardstick:
        percent = f"{render_number(figure.percent)} % of {render_number(figure.yardstick.measured)}"
        aim = render_aim(figure.yardstick.aim, figure.percent, " %")
        yield _render_row(f"  of {figure.yardstick.what}", percent, *aim)
    yield from _wrap(figure.note, indent=4)


def render_aim(aim: Aim | None, measured: float, unit: str = "") -> tuple[str, str]:
    """The aim, and whether it was reached. Its unit is left out where the column before has it."""
    if aim is None:
        return "", ""
    met = "met" if aim.is_met(measured) else "missed"
    if aim.is_stretch_met(measured):
        met = "stretch met"
    return f"{'≥' if aim.at_least else '≤'} {render_number(aim.bound)}{unit}", met


def render_number(value: float) -> str:
    """The value with at least three digits: further ones are noise."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


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


def build_document(
    scale: Scale, ran_on: dict[str, Any], outcomes: Iterable[Outcome]
) -> dict[str, Any]:
    return {
        "scale": asdict(scale),
        "machine": ran_on,
        "parts": [
            {
                "part": outcome.part,
                "seconds": round(outcome.seconds, 1),
                "failure": outcome.failure,
                "figures": [describe(figure) for figure in outcome.figures],
            }
            for outcome in outcomes
        ],
    }


def describe(figure: Figure) -> dict[str, Any]:
    described = {**asdict(figure), **_judge(figure.aim, figure.measured)}
    if figure.yardstick:
        described["yardstick"] |= {
            "percent": figure.percent,
            **_judge(figure.yardstick.aim, figure.percent),
        }
    return described


def _judge(aim: Aim | None, measured: float) -> dict[str, bool]:
    if aim is None:
        return {}
    stretched = {} if aim.stretch is None else {"stretch_met": aim.is_stretch_met(measured)}
    return {"met": aim.is_met(measured), **stretched}


def _render_row(what: str, measured: str, aim: str, met: str) -> str:
    row = f"  {what:<{WHAT_WIDTH}}{measured:>{MEASURED_WIDTH}}   {aim:<{AIM_WIDTH}}{met}"
    return row.rstrip()


def _wrap(text: str, indent: int) -> Iterator[str]:
    for line in text.splitlines():
        yield from wrap(line, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)
