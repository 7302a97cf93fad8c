"""What a pipeline declares: what it reads and writes, and how events become rows."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column, DataFrame

from contracts import HEARTBEATS, RELEASES, Contract
from infra.errors import UserError


class UnknownPipeline(UserError):
    """There is no room of that name."""

    def __init__(self, name: str) -> None:
        known = ", ".join(list_pipelines())
        super().__init__(f"There is no pipeline {name!r}. Known: {known}")


Extract = Mapping[str, Column]
"""What is taken from an event, as columns over it: by name what all its lines share, and the array
`lines`."""


class Contribution(NamedTuple):
    """What a line adds to a row of a view."""

    columns: Mapping[str, Column]
    """The view's key and what is aggregated, as columns over the line."""
    when: Column | None = None
    """Which lines add it. None: all."""


@dataclass(frozen=True)
class View:
    """A view that a pipeline writes, and what a line contributes to it."""

    contract: Contract
    contributions: Callable[[], Sequence[Contribution]] | None = None
    """Of each line; several where it lies in several windows. None: the line is the contribution.
    """
    ends: str | None = None
    """The column that says when a row's interval is over. Its state is freed some time after that,
    and a release does not count in it any more. None: the row is never closed."""
    grouped_by: tuple[str, ...] = ()
    """What contributions are aggregated by, where `to_rows` makes rows with another key of them."""

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that contributions are grouped by."""
        return self.grouped_by or self.contract.key


@dataclass(frozen=True, eq=False)
class Dimension:
    """A keyed topic whose records hold from a moment on, joined to lines as of their event time."""

    topic: Contract
    since: str
    """The field that says from when on a version holds."""
    columns: Mapping[str, str]
    """Field of the topic → column of the line; null where no version holds yet."""


def keep_columns(aggregates: DataFrame) -> DataFrame:
    """The aggregates with the columns that they have: they are the rows."""
    return aggregates


@dataclass(frozen=True)
class Pipeline:
    """One Spark program: topics in, views out.

    Of an event lines are extracted. A line contributes to rows of views, under a key each.
    Contributions are aggregated to rows.
    """

    name: str
    extracts: Mapping[Contract, Callable[[Column], Extract]]
    """By topic read: what is extracted from an event. All have the same columns and types."""
    views: tuple[View, ...]
    aggregates: Callable[[], Mapping[str, Column]]
    """The views' other fields, as aggregates of contributions.

    A contribution has the columns of an extract, the fields of its line, `event_time`, `published`,
    the `topic` of the event's contract, and `first_of_event`: true for one contribution per event
    and key, so that counting it counts events.
    Where views declare contributions, these have the columns that they name instead.
    """
    dimensions: tuple[Dimension, ...] = ()
    to_rows: Callable[[DataFrame], DataFrame] = keep_columns
    """From aggregates to rows: adds columns, and drops none of the rows."""
    may_be_row: Callable[[], Column] | None = None
    """Which aggregates go on to `to_rows`; the others are dropped. None: all."""
    is_row: Callable[[], Column] | None = None
    """Which of the rows are in the view; the others are dropped. None: all."""
    every: timedelta = timedelta(milliseconds=200)
    """The least time, by the wall clock, between the starts of two live batches."""
    duty_cycle: float = 1.0
    """The share of the time that live batches may take. After each batch the pipeline rests as long
    as that asks for: cheap batches are frequent, and a loaded machine is loaded less."""
    weight: int = 1
    """Its share of the cores, beside pipelines in the same Spark, where all of them want some."""

    @property
    def reads(self) -> tuple[Contract, ...]:
        """The topics whose events it extracts lines from."""
        return tuple(self.extracts)

    @property
    def inputs(self) -> tuple[Contract, ...]:
        """The topics whose records it reads: its own, and those that every pipeline reads."""
        return (*self.reads, RELEASES, HEARTBEATS)

    @property
    def writes(self) -> tuple[Contract, ...]:
        """The views."""
        return tuple(view.contract for view in self.views)


def list_pipelines() -> tuple[str, ...]:
    """The names of the rooms."""
    here = Path(__file__).parent.parent
    return tuple(
        sorted(
            file.parent.name for file in here.glob("*/pipeline.py") if file.parent.name != "common"
        )
    )


def load(name: str) -> Pipeline:
    """The pipeline declared in the room of that name; raises UnknownPipeline."""
    if name not in list_pipelines():
        raise UnknownPipeline(name)
    declared = importlib.import_module(f"pipelines.{name}.pipeline").PIPELINE
    assert isinstance(declared, Pipeline)
    return declared
