"""Stock on every shelf, from every movement."""

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline
from pipelines.inventory.transform import adjusted, refunded, shipped, sold, stock

PIPELINE = Pipeline(
    name="inventory",
    posts={RECEIPTS: sold, REFUNDS: refunded, SHIPMENTS: shipped, ADJUSTMENTS: adjusted},
    writes=STOCK_LEVELS,
    totals=stock,
)
