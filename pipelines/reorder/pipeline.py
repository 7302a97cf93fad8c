"""When to order what: proposals for every shelf, at every midnight."""

from datetime import timedelta
from functools import partial

from pyspark.sql import DataFrame

from contracts import ADJUSTMENTS, PRODUCTS, PROMOTIONS, PROPOSALS, RECEIPTS, REFUNDS, SHIPMENTS
from pipelines.common.fold import is_book
from pipelines.common.pipeline import AsOf, Pipeline, View
from pipelines.reorder.policy import Policy
from pipelines.reorder.transform import (
    PLAN,
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
SIDES = (
    AsOf(PRODUCTS, since="effective_at", columns={name: name for name in TERMS}),
    AsOf(PROMOTIONS, since="effective_at", columns=PLAN),
)


def finish(reviews: DataFrame) -> DataFrame:
    return proposals(reviews, POLICY, is_book())


PIPELINE = Pipeline(
    name="reorder",
    posts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    views=(View(PROPOSALS, entries=partial(entries, POLICY), ends="review_at"),),
    totals=totals,
    sides=SIDES,
    finish=finish,
    every=timedelta(seconds=15),
)
