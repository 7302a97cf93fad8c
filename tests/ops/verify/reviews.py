"""Hand-drawn timelines of one shelf, and what the oracle proposes by them."""

from datetime import datetime, timedelta

from contracts import ADJUSTMENTS
from ops.verify.oracles import ReorderOracle
from ops.verify.tables import Row
from pipelines.reorder.policy import Policy
from tests.timeline import DAY, LEEDS, MILK, Timeline

FIRST = DAY + timedelta(days=1)
"""The midnight after the timelines' day."""
STEADY = Policy(safety=0.0, swing=0.0, dispersion_min=0.0, late_days=0.0)


def compute_proposals(shop: Timeline, policy: Policy = STEADY) -> list[Row]:
    return ReorderOracle(shop.records, policy).compute_view()


def select_fields(shop: Timeline, *fields: str) -> list[tuple[object, ...]]:
    return [tuple(row[field] for field in fields) for row in compute_proposals(shop)]


def compute_first(shop: Timeline) -> Row:
    """What the first review of the only shelf says."""
    return compute_proposals(shop)[0]


def milk(units: int) -> tuple[str, int, int]:
    return MILK, units, 100


def adjust(shop: Timeline, happened: datetime, units: int, reason: str) -> None:
    shop.put(ADJUSTMENTS, happened, store_id=LEEDS, sku=MILK, units=units, reason=reason)
