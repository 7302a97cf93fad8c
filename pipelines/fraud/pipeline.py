"""What looks like fraud: alerts, from what receipts and refunds post."""

from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import ALERTS
from pipelines.common.fold import is_book
from pipelines.common.pipeline import Pipeline, View
from pipelines.fraud.clues import READS, SIDES, entries
from pipelines.fraud.suspicion import alerts, totals
from pipelines.fraud.thresholds import Thresholds

LIMITS = Thresholds()


def finish(groups: DataFrame) -> DataFrame:
    return alerts(groups, LIMITS, is_book())


PIPELINE = Pipeline(
    name="fraud",
    posts=READS,
    views=(View(ALERTS, entries=lambda: entries(LIMITS), ends="interval_end"),),
    totals=totals,
    sides=SIDES,
    finish=finish,
    every=timedelta(seconds=1),
    duty_cycle=0.12,  # an alert is for somebody who takes minutes
)
