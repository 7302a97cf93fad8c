"""The mirrored promotions: the storage of plans. All times are epoch milliseconds."""

import sqlite3
from typing import NamedTuple

from contracts import PROMOTIONS
from services.api.store.announced import create_announced_layout


class Plan(NamedTuple):
    """A promotion of a product, and from when on this plan of it holds."""

    sku: str
    usual_price_cents: int
    price_cents: int
    starts_at: int
    ends_at: int
    effective_at: int
    event_id: str
    event_time: int
    published_at: int
    holds_from: int
    offset: int


PLAN_COLUMNS = ", ".join(f'"{name}"' for name in Plan._fields)
PLANS = (
    f"select {PLAN_COLUMNS} from plans "
    'where sku = ? and (starts_at, "offset") < (?, ?) '
    'order by starts_at desc, "offset" desc limit ?'
)
PLANNED = create_announced_layout(
    PROMOTIONS,
    "plans",
    ("usual_price_cents", "price_cents"),
    ("event_time", "starts_at", "ends_at", "effective_at"),
    since="starts_at",
)


def list_plans(
    connection: sqlite3.Connection, sku: str, before: tuple[int, int], limit: int
) -> list[Plan]:
    """The promotions of a product that start before a place, the last to start first."""
    return [Plan(*row) for row in connection.execute(PLANS, (sku, *before, limit))]
