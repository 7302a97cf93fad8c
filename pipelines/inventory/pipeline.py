"""Stock on every shelf, from every movement."""

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline
from pipelines.inventory.transform import movements, stock

PIPELINE = Pipeline(
    name="inventory",
    reads=(RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS),
    writes=STOCK_LEVELS,
    posts=movements,
    totals=stock,
)
