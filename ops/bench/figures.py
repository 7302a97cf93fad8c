"""What a part of the bench yields, and how it is shown: as Markdown, for a document to take in."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import psutil

GIB = 1024**3
HEAD = ("| what | measured | aim | | beside, in the same run |", "|---|---|---|---|---|")


@dataclass(frozen=True)
class Aim:
    """The bound that a value should reach, in its own unit."""

    bound: float
    at_least: bool

    def render(self, measured: float, unit: str = "") -> tuple[str, str]:
        """The bound, and whether the value reaches it."""
        bound = f"{'≥' if self.at_least else '≤'} {render_number(self.bound)}{unit}"
        met = measured >= self.bound if self.at_least else measured <= self.bound
        return bound, "met" if met else "missed"


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


def render_figures(figures: Iterable[Figure]) -> Iterator[str]:
    """A table whose rows come as the figures do, and then what exactly was measured."""
    yield from HEAD
    notes = []
    for figure in figures:
        yield render_row(figure)
        if figure.note:
            notes.append(f"- *{figure.what}*: {' '.join(figure.note.split())}")
    yield from ("", f"Measured on {describe_machine()}.", "", *notes)


def render_row(figure: Figure) -> str:
    aim, verdict = figure.aim.render(figure.measured) if figure.aim else ("", "")
    measured = f"{render_number(figure.measured)} {figure.unit}"
    return f"| {figure.what} | {measured} | {aim} | {verdict} | {render_yardstick(figure)} |"


def render_yardstick(figure: Figure) -> str:
    """What the figure is measured beside, and its share of that; empty where there is nothing."""
    beside = figure.yardstick
    if beside is None:
        return ""
    percent = 100 * figure.measured / beside.measured
    judged = f"; aim {', '.join(beside.aim.render(percent, ' %'))}" if beside.aim else ""
    return (
        f"{beside.what}: {render_number(beside.measured)} {figure.unit}, "
        f"of which it is {render_number(percent)} %{judged}"
    )


def render_number(value: float) -> str:
    """The value with at least three digits: further ones are noise."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def describe_machine() -> str:
    """Its cores and its memory."""
    memory_gib = round(psutil.virtual_memory().total / GIB, 1)
    return f"{os.cpu_count()} cores, {memory_gib:g} GiB of memory"
