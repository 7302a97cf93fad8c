"""Levels for every shelf, at every midnight, and the changes of its position by minute."""

from datetime import timedelta
from functools import partial

from contracts import (
    ADJUSTMENTS,
    POSITION_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    PROPOSALS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
)
from pipelines.common.pipeline import Dimension, Pipeline, View
from pipelines.reorder.policy import Policy
from pipelines.reorder.transform import (
    CAME,
    PLAN,
    PRODUCT,
    SOLD,
    build_aggregates,
    build_change,
    build_contributions,
    build_line_columns,
    build_proposals,
    derive_minute,
    derive_review,
    extract_adjustment,
    extract_as,
    extract_shipment,
    is_known,
)

POLICY = Policy()
DIMENSIONS = (
    Dimension(PRODUCTS, since="effective_at", columns={name: name for name in PRODUCT}),
    Dimension(PROMOTIONS, since="effective_at", columns=PLAN),
)


PIPELINE = Pipeline(
    name="reorder",
    extracts={
        RECEIPTS: extract_as(SOLD),
        REFUNDS: extract_as(CAME),
        SHIPMENTS: extract_shipment,
        ADJUSTMENTS: extract_adjustment,
    },
    views=(
        View(
            PROPOSALS,
            contributions=build_contributions,
            derived=derive_review,
            ends="review_at",
        ),
        View(
            POSITION_CHANGES,
            contributions=build_change,
            derived=derive_minute,
            ends="changed_at",
        ),
    ),
    aggregates=build_aggregates,
    dimensions=DIMENSIONS,
    line_columns=partial(build_line_columns, POLICY),
    may_be_row=is_known,
    to_rows=partial(build_proposals, policy=POLICY),
    every=timedelta(seconds=15),
)
