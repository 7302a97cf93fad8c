"""Stock on every shelf, from every movement."""

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline, View
from pipelines.inventory.transform import adjusted, refunded, shipped, sold, stock

PIPELINE = Pipeline(
    name="inventory",
    extracts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    views=(View(STOCK_LEVELS),),
    aggregates=stock,
    duty_cycle=0.25,  # it is what people look at
    weight=4,
)
