"""From records to rows: extract, deduplicate, join, contribute, aggregate.

Spark generates code for all of it: one lambda over an array would halve the rate.
"""

from collections.abc import Callable
from datetime import timedelta

from pyspark.sql import Column, DataFrame

from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.accounting import is_accounting
from pipelines.common.transform.as_of_join import Versions
from pipelines.common.transform.contribute import UNTIL, VIEW, build_contributions, is_of
from pipelines.common.transform.deduplicate import keep_first_copies, keep_first_copies_in_stream
from pipelines.common.transform.extract import extract

TASKS = 2
"""The number of tasks for a batch."""

SMALL_TASKS = 1
"""The number of tasks for a small batch: a second task would cost more than it saves."""


def build_rows(
    pipeline: Pipeline, records: DataFrame, versions: Versions | None = None, number: int = 0
) -> DataFrame:
    """The rows of the view with this number, with the columns of its contract."""
    return select_view_rows(pipeline, build_static_rows(pipeline, records, versions or {}), number)


def build_static_rows(
    pipeline: Pipeline, records: DataFrame, versions: Versions, small: Settings | None = None
) -> DataFrame:
    """The rows of all views and of accounting, over a static frame of records: as `aggregate`.

    `small`: as in `extract`.
    """
    copies = keep_first_copies(extract(pipeline, records, small))
    return aggregate(pipeline, build_contributions(pipeline, copies, versions))


def select_view_rows(pipeline: Pipeline, every: DataFrame, number: int) -> DataFrame:
    """The rows of the view with this number, with the fields of its contract as columns."""
    wanted = is_of(pipeline, number) & ~is_accounting()
    return every.where(wanted).select(*[field.name for field in pipeline.writes[number].fields])


def build_running_rows(
    pipeline: Pipeline,
    records: DataFrame,
    memory: timedelta,
    versions: Versions,
    beat_max: Column,
    small: Settings | None = None,
) -> DataFrame:
    """The rows that a batch of a stream changes, accounting among them: as in `aggregate`.

    `memory`: how long Spark remembers an event's id, in world time, and `beat_max`: see
    `keep_first_copies_in_stream`.
    `small`: as in `extract`.
    """
    tasks = TASKS if small is None else SMALL_TASKS
    extracts = extract(pipeline, records.coalesce(tasks), small)
    copies = keep_first_copies_in_stream(extracts, memory, beat_max)
    return aggregate(pipeline, build_contributions(pipeline, copies, versions))


def aggregate(pipeline: Pipeline, contributed: DataFrame) -> DataFrame:
    """One row per key of a view, and one accounting row per topic and partition.

    `is_accounting` and `is_of` tell them apart. A row has the fields of its view's contract; an
    accounting row has the columns of `accounting.build_aggregates`.
    """
    keys = dict.fromkeys(name for view in pipeline.views for name in view.group_columns)
    of_view = [name for name in (VIEW, UNTIL) if name in contributed.columns]
    every = {**pipeline.aggregates(), **accounting.build_aggregates()}
    aggregates = contributed.groupBy(*accounting.KEY, *of_view, *keys).agg(
        *[one.alias(name) for name, one in every.items()]
    )
    rows = pipeline.to_rows(keep(aggregates, pipeline.may_be_row))
    return keep(rows, pipeline.is_row)


def keep(rows: DataFrame, condition: Callable[[], Column] | None) -> DataFrame:
    """The accounting rows, and the other rows that meet the condition, with the same columns."""
    return rows if condition is None else rows.where(is_accounting() | condition())
