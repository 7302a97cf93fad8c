"""Stock on every shelf, from every movement."""

from datetime import timedelta

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, STOCK_LEVELS
from pipelines.common.pipeline import Pipeline, View
from pipelines.inventory.transform import (
    aggregate_stock,
    extract_adjustment,
    extract_refund,
    extract_sale,
    extract_shipment,
)

PIPELINE = Pipeline(
    name="inventory",
    extracts={
        RECEIPTS: extract_sale,
        REFUNDS: extract_refund,
        SHIPMENTS: extract_shipment,
        ADJUSTMENTS: extract_adjustment,
    },
    views=(View(STOCK_LEVELS),),
    aggregates=aggregate_stock,
    # People watch this view. With this interval, batches seldom begin with other pipelines'.
    every=timedelta(milliseconds=470),
    duty_cycle=0.5,
    weight=4,
    batch_multiple=2,
)
