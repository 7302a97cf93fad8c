"""When customers come, and what they take home: visits, from receipts."""

from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import RECEIPTS, VISITS
from pipelines.common.pipeline import Pipeline, View
from pipelines.visits.thresholds import Thresholds
from pipelines.visits.transform import DAY, entries, sold, totals, visits

LIMITS = Thresholds()


def finish(days: DataFrame) -> DataFrame:
    return visits(days, LIMITS)


PIPELINE = Pipeline(
    name="visits",
    posts={RECEIPTS: sold},
    views=(View(VISITS, entries=entries, ends="day_end", gathers=DAY),),
    totals=totals,
    finish=finish,
    every=timedelta(seconds=5),
)
