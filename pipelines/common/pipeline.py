"""The declaration of a pipeline: its topics, its views, and the way from events to rows."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column, DataFrame

from contracts import HEARTBEATS, RELEASES, Contract
from infra.errors import UserError

Extract = Mapping[str, Column]
"""What all lines of an event share, by name, as columns over the event. The lines themselves are
the column `lines`."""


class Contribution(NamedTuple):
    """A row of a view to which a line adds."""

    columns: Mapping[str, Column]
    """What differs from the line's other contributions: as columns over the line."""
    when: Column | None = None
    """The condition of the lines that add it. None: all lines add it."""


@dataclass(frozen=True)
class View:
    """A view that a pipeline writes, and the contributions of a line to it."""

    contract: Contract
    contributions: Callable[[], Sequence[Contribution]] | None = None
    """The contributions of a line; several if it lies in several windows. None: the line itself."""
    derived: Callable[[], Mapping[str, Column]] = dict
    """The other columns of its contributions, over their own columns and those of the line. They
    stand once in the plan, which every live batch plans anew, however many contributions there are.
    """
    ends: str | None = None
    """The column with the end of a row's interval. Some time after it Spark frees the row's state,
    and the row takes no release any more. None: the row is never closed."""
    grouped_by: tuple[str, ...] = ()
    """The columns that group contributions, if `to_rows` makes rows with another key."""

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that contributions are grouped by."""
        return self.grouped_by or self.contract.key


@dataclass(frozen=True, eq=False)
class Dimension:
    """A keyed topic whose records hold from a moment on; lines join it at their event time."""

    topic: Contract
    since: str
    """The field with the time from which a version holds."""
    columns: Mapping[str, str]
    """Field of the topic → column of the line; null where no version holds yet."""


def keep_columns(aggregates: DataFrame) -> DataFrame:
    """The aggregates with the columns that they have: they are the rows."""
    return aggregates


@dataclass(frozen=True)
class Pipeline:
    """One Spark program: topics in, views out.

    An event has lines, with the fields that the pipeline declares. A line contributes to rows of
    views, each with a key. The pipeline aggregates contributions to rows.
    """

    name: str
    extracts: Mapping[Contract, Callable[[Column], Extract]]
    """By topic: the extract of an event. All extracts have the same columns and types.

    Lines have the same fields, of whichever topic: one that a topic's lines have not is null, and
    an event without lines is its own only line.
    """
    views: tuple[View, ...]
    aggregates: Callable[[], Mapping[str, Column]]
    """The views' other fields, as aggregates of contributions.

    A contribution has the columns of an extract, the fields of its line, `event_time`, `published`,
    the `topic` of the event's contract, and `first_of_event`: true for one contribution per event
    and key, so that its count is the number of events.
    The contributions that views declare have their own columns too. A column that the contributions
    to one view have, and those to another have not, is null in the latter.
    """
    dimensions: tuple[Dimension, ...] = ()
    line_columns: Callable[[], Mapping[str, Column]] = dict
    """Columns that it adds to a line, over the line's own and those of its dimensions."""
    to_rows: Callable[[DataFrame], DataFrame] = keep_columns
    """From aggregates to rows: adds columns, and drops none of the rows."""
    may_be_row: Callable[[], Column] | None = None
    """The condition of aggregates for `to_rows`, which gets no others. None: all."""
    is_row: Callable[[], Column] | None = None
    """The condition of rows that are in the view. None: all."""
    every: timedelta = timedelta(milliseconds=200)
    """The least time, by the wall clock, between the starts of two live batches."""
    duty_cycle: float = 1.0
    """The share of the time that live batches may take. After each batch the pipeline rests so long
    that it keeps this share: cheap batches are frequent, and a busy machine gets less load."""
    weight: int = 1
    """Its share of the cores if all pipelines of its Spark want some."""
    batch_multiple: int = 1
    """How many times PIPELINE_RECORDS_PER_BATCH_MAX it reads at a time while it catches up. A batch
    that is cheap by the record may be larger: a killed one is repeated soon."""

    @property
    def reads(self) -> tuple[Contract, ...]:
        """The topics whose events it takes lines of."""
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
    return tuple(sorted({file.parent.name for file in here.glob("*/pipeline.py")} - {"common"}))


def load(name: str) -> Pipeline:
    """The pipeline declared in the room of that name; raises UserError if there is none."""
    names = list_pipelines()
    if name not in names:
        raise UserError(f"There is no pipeline {name!r}. Known: {', '.join(names)}")
    declared = importlib.import_module(f"pipelines.{name}.pipeline").PIPELINE
    assert isinstance(declared, Pipeline)
    return declared
