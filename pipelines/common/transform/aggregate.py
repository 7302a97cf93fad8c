"""From contributions to rows: one per key of a view, and one per partition for the accounting.

Spark generates code for all of it: one lambda over an array would halve the rate.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame

from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.accounting import is_accounting
from pipelines.common.transform.contribute import UNTIL, VIEW, is_of


def select_view_rows(pipeline: Pipeline, every: DataFrame, number: int) -> DataFrame:
    """The rows of the view with this number, with the fields of its contract as columns."""
    wanted = is_of(pipeline, number) & ~is_accounting()
    return every.where(wanted).select(*[field.name for field in pipeline.writes[number].fields])


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
