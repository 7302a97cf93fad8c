"""When to order what: proposals for every shelf, at every midnight."""

from datetime import timedelta
from functools import partial

from pyspark.sql import DataFrame

from contracts import ADJUSTMENTS, PRODUCTS, PROMOTIONS, PROPOSALS, RECEIPTS, REFUNDS, SHIPMENTS
from pipelines.common.pipeline import Dimension, Pipeline, View
from pipelines.reorder.policy import Policy
from pipelines.reorder.transform import (
    PLAN,
    TERMS,
    adjusted,
    aggregates,
    contributions,
    is_known,
    proposals,
    refunded,
    shipped,
    sold,
)

POLICY = Policy()
DIMENSIONS = (
    Dimension(PRODUCTS, since="effective_at", columns={name: name for name in TERMS}),
    Dimension(PROMOTIONS, since="effective_at", columns=PLAN),
)


def to_rows(reviews: DataFrame) -> DataFrame:
    """The proposals, with the view's columns."""
    return proposals(reviews, POLICY)


PIPELINE = Pipeline(
    name="reorder",
    extracts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    views=(View(PROPOSALS, contributions=partial(contributions, POLICY), ends="review_at"),),
    aggregates=aggregates,
    dimensions=DIMENSIONS,
    may_be_row=is_known,
    to_rows=to_rows,
    every=timedelta(seconds=15),
)
