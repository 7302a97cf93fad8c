"""The figures as Markdown, for the screen, the report and the documents."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psutil

from ops.bench.figures import Aim, Figure, Outcome
from services.clock import get_wall_ms

GIB = 1024**3
HEAD = ("| what | measured | aim | | beside, in the same run |", "|---|---|---|---|---|")


def describe_machine() -> dict[str, Any]:
    """The day and the machine; cores and load say how much of a figure is noise."""
    return {
        "measured_on": f"{datetime.fromtimestamp(get_wall_ms() / 1000, UTC):%Y-%m-%d}",
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / GIB, 1),
        "load_per_minute": round(os.getloadavg()[0], 2),
    }


def render_outcome(part: str, outcome: Outcome) -> Iterator[str]:
    """Lines: a table of the figures, the machine, what exactly was measured, and why there is no
    more.
    """
    yield from HEAD
    yield from map(render_row, outcome.figures)
    yield ""
    yield (
        f"Measured ({part}, {outcome.scale}) on {outcome.machine['measured_on']}: "
        f"{outcome.machine['cores']} cores, {outcome.machine['memory_gib']:g} GiB of memory."
    )
    yield ""
    for figure in outcome.figures:
        if figure.note:
            yield f"- *{figure.what}*: {figure.note}"
    if outcome.failure:
        yield f"\n{part} failed. {outcome.failure}"


def render_row(figure: Figure) -> str:
    aim, verdict = render_aim(figure.aim, figure.measured)
    return (
        f"| {figure.what} | {render_number(figure.measured)} {figure.unit} | {aim} | {verdict} "
        f"| {render_yardstick(figure)} |"
    )


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
