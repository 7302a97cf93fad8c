"""Visits, from receipts: when customers come, and what they buy."""

from datetime import timedelta

from contracts import RECEIPTS, VISITS
from pipelines.common.pipeline import Pipeline, View
from pipelines.visits.thresholds import Thresholds
from pipelines.visits.transform import (
    DAY,
    build_aggregates,
    build_contributions,
    build_visits,
    derive_columns,
    extract_sale,
)

LIMITS = Thresholds()

PIPELINE = Pipeline(
    name="visits",
    extracts={RECEIPTS: extract_sale},
    views=(
        View(
            VISITS,
            contributions=build_contributions,
            derived=lambda: derive_columns(LIMITS),
            ends="day_end",
            grouped_by=DAY,
        ),
    ),
    aggregates=lambda: build_aggregates(LIMITS),
    to_rows=lambda days: build_visits(days, LIMITS),
    every=timedelta(seconds=5),
)
