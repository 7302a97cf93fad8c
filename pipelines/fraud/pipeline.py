"""Fraud alerts, from the signals of receipts and refunds."""

from datetime import timedelta

from contracts import ALERTS
from pipelines.common.pipeline import Pipeline, View
from pipelines.fraud.alerts import build_aggregates, build_alerts, is_alert, may_trip
from pipelines.fraud.signals import (
    DIMENSIONS,
    READS,
    build_contributions,
    build_line_columns,
    derive_columns,
)
from pipelines.fraud.thresholds import Thresholds


def create_pipeline(limits: Thresholds) -> Pipeline:
    return Pipeline(
        name="fraud",
        extracts=READS,
        views=(
            View(
                ALERTS,
                contributions=lambda: build_contributions(limits),
                derived=derive_columns,
                ends="interval_end",
            ),
        ),
        aggregates=lambda: build_aggregates(limits),
        dimensions=DIMENSIONS,
        line_columns=build_line_columns,
        may_be_row=lambda: may_trip(limits),
        to_rows=lambda groups: build_alerts(groups, limits),
        is_row=is_alert,
        every=timedelta(seconds=1),
        duty_cycle=0.08,  # a person reads alerts, within minutes
        weight=2,
    )


PIPELINE = create_pipeline(Thresholds())
