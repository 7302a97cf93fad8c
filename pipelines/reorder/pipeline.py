"""When to order what: proposals for every shelf, at every midnight."""

from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import ADJUSTMENTS, PRODUCTS, PROPOSALS, RECEIPTS, REFUNDS, SHIPMENTS
from pipelines.common.fold import is_book
from pipelines.common.pipeline import AsOf, Pipeline, View
from pipelines.reorder.policy import Policy
from pipelines.reorder.transform import (
    TERMS,
    adjusted,
    entries,
    proposals,
    refunded,
    shipped,
    sold,
    totals,
)

POLICY = Policy()


def finish(reviews: DataFrame) -> DataFrame:
    return proposals(reviews, POLICY, is_book())


PIPELINE = Pipeline(
    name="reorder",
    posts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    views=(View(PROPOSALS, entries=entries, ends="review_at"),),
    totals=totals,
    sides=(AsOf(PRODUCTS, since="effective_at", columns={name: name for name in TERMS}),),
    finish=finish,
    every=timedelta(seconds=15),
)
