"""Stock on every shelf, from every movement."""

from datetime import timedelta

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline, View
from pipelines.inventory.transform import (
    ADJUSTED,
    REFUNDED,
    SOLD,
    aggregate_stock,
    extract_as,
    extract_shipment,
)

PIPELINE = Pipeline(
    name="inventory",
    extracts={
        RECEIPTS: extract_as(SOLD),
        REFUNDS: extract_as(REFUNDED),
        SHIPMENTS: extract_shipment,
        ADJUSTMENTS: extract_as(ADJUSTED),
    },
    views=(View(STOCK_LEVELS),),
    aggregates=aggregate_stock,
    # People watch this view. With this interval, batches seldom begin with other pipelines'.
    every=timedelta(milliseconds=470),
    duty_cycle=0.5,
    weight=4,
    batch_multiple=2,
)
