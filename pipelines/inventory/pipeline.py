"""Stock on every shelf, from every movement."""

from datetime import timedelta

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline, View
from pipelines.inventory.transform import adjusted, refunded, shipped, sold, stock

PIPELINE = Pipeline(
    name="inventory",
    extracts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    views=(View(STOCK_LEVELS),),
    aggregates=stock,
    # It is what people look at. Its batches seldom begin together with those of the others.
    every=timedelta(milliseconds=470),
    duty_cycle=0.5,
    weight=4,
)
