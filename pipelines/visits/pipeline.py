"""When customers come, and what they take home: visits, from receipts."""

from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import RECEIPTS, VISITS
from pipelines.common.pipeline import Pipeline, View
from pipelines.visits.thresholds import Thresholds
from pipelines.visits.transform import DAY, aggregates, contributions, sold, visits

LIMITS = Thresholds()


def to_rows(days: DataFrame) -> DataFrame:
    """The visits, with the view's columns."""
    return visits(days, LIMITS)


PIPELINE = Pipeline(
    name="visits",
    extracts={RECEIPTS: sold},
    views=(View(VISITS, contributions=contributions, ends="day_end", grouped_by=DAY),),
    aggregates=aggregates,
    to_rows=to_rows,
    every=timedelta(seconds=5),
)
