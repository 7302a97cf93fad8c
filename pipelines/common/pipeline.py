"""What a pipeline declares: what it reads and writes, and how events become rows."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column, DataFrame

from contracts import HEARTBEATS, RELEASES, Contract
from infra.errors import Trouble


class UnknownPipeline(Trouble):
    """There is no room of that name."""

    def __init__(self, name: str) -> None:
        known = ", ".join(pipelines())
        super().__init__(f"There is no pipeline {name!r}. Known: {known}")


Posting = Mapping[str, Column]
"""What all lines of an event share, by name, and the array `lines`, as columns over the event."""


class Entry(NamedTuple):
    """What a line adds to a row."""

    columns: Mapping[str, Column]
    """The view's key and what is added up, as columns over the line."""
    when: Column | None = None
    """Which lines add it. None: all."""


@dataclass(frozen=True)
class View:
    """A view that a pipeline writes, and what a line enters in it."""

    contract: Contract
    entries: Callable[[], Sequence[Entry]] | None = None
    """Of each line; several where it lies in several windows. None: the line is the entry."""
    ends: str | None = None
    """The column that says when a row's interval is over. Its state is freed some time after that,
    and a release does not count in it any more. None: the row is never closed."""
    gathers: tuple[str, ...] = ()
    """What entries are added up under, where `finish` makes rows of it that have another key."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns whose values entries of one group share."""
        return self.gathers or self.contract.key


@dataclass(frozen=True, eq=False)
class AsOf:
    """Facts of a keyed topic that hold from a moment on, set beside the lines of what happened."""

    topic: Contract
    since: str
    """The field that says from when on the fact holds."""
    columns: Mapping[str, str]
    """Field of the topic → column of the line; null where no fact holds yet."""


def as_it_is(totals: DataFrame) -> DataFrame:
    return totals


@dataclass(frozen=True)
class Pipeline:
    """One Spark program: topics in, views out.

    An event posts lines. A line is entered in views, under a key each; entries add up to rows.
    """

    name: str
    posts: Mapping[Contract, Callable[[Column], Posting]]
    """By topic read: what an event of it posts. All have the same columns, of the same types."""
    views: tuple[View, ...]
    totals: Callable[[], Mapping[str, Column]]
    """The views' other fields, as aggregates of entries.

    An entry has a posting's columns, its line's fields, `event_time`, `published`, the `topic`
    under whose contract the event is, and `first_of_event`: true for one entry per event and key,
    so that counting it counts events.
    Where views say what a line enters in them, it has the columns that they name instead.
    """
    sides: tuple[AsOf, ...] = ()
    finish: Callable[[DataFrame], DataFrame] = as_it_is
    """From totals to rows: adds columns, drops totals that say nothing. The books, which
    `is_book` tells, go through it untouched."""
    every: timedelta = timedelta(milliseconds=200)
    """The least time, by the wall clock, between the starts of two live batches."""
    duty_cycle: float = 1.0
    """The share of the time that live batches may take. After each the pipeline rests as long as
    that asks for: where batches are cheap they are frequent, and where the machine is loaded it is
    loaded less."""

    @property
    def reads(self) -> tuple[Contract, ...]:
        """The topics whose events it posts."""
        return tuple(self.posts)

    @property
    def inputs(self) -> tuple[Contract, ...]:
        """The topics whose records it reads: its own, and what every pipeline reads besides."""
        return (*self.reads, RELEASES, HEARTBEATS)

    @property
    def writes(self) -> tuple[Contract, ...]:
        """The views."""
        return tuple(view.contract for view in self.views)


def pipelines() -> tuple[str, ...]:
    """The names of the rooms."""
    here = Path(__file__).parent.parent
    return tuple(
        sorted(
            file.parent.name for file in here.glob("*/pipeline.py") if file.parent.name != "common"
        )
    )


def load(name: str) -> Pipeline:
    """The pipeline declared in the room of that name; raises UnknownPipeline."""
    if name not in pipelines():
        raise UnknownPipeline(name)
    declared = importlib.import_module(f"pipelines.{name}.pipeline").PIPELINE
    assert isinstance(declared, Pipeline)
    return declared
