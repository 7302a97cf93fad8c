"""Visits, from receipts: when customers come, and what they buy."""

from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import RECEIPTS, VISITS
from pipelines.common.pipeline import Pipeline, View
from pipelines.visits.thresholds import Thresholds
from pipelines.visits.transform import (
    DAY,
    build_aggregates,
    build_contributions,
    build_visits,
    extract_sale,
)

LIMITS = Thresholds()


def to_rows(days: DataFrame) -> DataFrame:
    """The visits, with the view's columns."""
    return build_visits(days, LIMITS)


PIPELINE = Pipeline(
    name="visits",
    extracts={RECEIPTS: extract_sale},
    views=(View(VISITS, contributions=build_contributions, ends="day_end", grouped_by=DAY),),
    aggregates=build_aggregates,
    to_rows=to_rows,
    every=timedelta(seconds=5),
)
