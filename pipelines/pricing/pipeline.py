"""What sells too slowly, by product, half-hour and day."""

from datetime import timedelta
from functools import partial

from contracts import (
    ADJUSTMENTS,
    MARKDOWN_PROPOSALS,
    PRICE_CHANGES,
    PRODUCTS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
)
from pipelines.common.pipeline import Dimension, Pipeline, View
from pipelines.pricing.thresholds import Thresholds
from pipelines.pricing.transform import (
    CAME,
    SOLD,
    build_aggregates,
    build_contributions,
    build_line_columns,
    build_proposals,
    derive_end,
    extract_as,
    extract_shipment,
)

LIMITS = Thresholds()
DIMENSIONS = (
    Dimension(PRICE_CHANGES, since="effective_at", columns={"price_cents": "price_cents"}),
    Dimension(
        PRODUCTS,
        since="effective_at",
        columns={"unit_cost_cents": "unit_cost_cents", "measure": "measure"},
    ),
)


PIPELINE = Pipeline(
    name="pricing",
    extracts={
        RECEIPTS: extract_as(SOLD),
        REFUNDS: extract_as(CAME),
        SHIPMENTS: extract_shipment,
        ADJUSTMENTS: extract_as(CAME),
    },
    views=(
        View(
            MARKDOWN_PROPOSALS,
            contributions=build_contributions,
            derived=derive_end,
            ends="ends_at",
        ),
    ),
    aggregates=build_aggregates,
    dimensions=DIMENSIONS,
    line_columns=build_line_columns,
    to_rows=partial(build_proposals, limits=LIMITS),
    every=timedelta(seconds=15),
)
