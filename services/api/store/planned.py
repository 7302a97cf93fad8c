"""The mirrored promotions: the storage of plans. All times are epoch milliseconds."""

import sqlite3
from typing import NamedTuple

from contracts import PROMOTIONS
from services.api.store.announced import build_row, read_event
from services.api.store.changelog import Record
from services.api.store.mirror import Layout
from services.api.store.tables import Stored

CREATE_PLANS = """
create table plans (
    partition integer not null,
    "offset" integer not null,
    event_id text not null,
    sku text not null,
    usual_price_cents integer not null,
    price_cents integer not null,
    event_time integer not null,
    starts_at integer not null,
    ends_at integer not null,
    effective_at integer not null,
    published_at integer not null,
    holds_from integer not null,
    primary key (partition, "offset"),
    unique (partition, event_id)
) without rowid;
create index "plans by sku" on plans (sku, starts_at, "offset")
"""


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
TIMES_OF_PLAN = ("event_time", "starts_at", "ends_at", "effective_at")


def _build_promotion_row(record: Record) -> Stored | None:
    event = read_event(PROMOTIONS, record)
    if event is None:
        return None
    cents = event["usual_price_cents"], event["price_cents"]
    return build_row(record, event, cents, TIMES_OF_PLAN)


PLANNED = Layout(
    topic=PROMOTIONS.name,
    create=tuple(CREATE_PLANS.split(";")),
    insert=f"insert or ignore into plans values ({', '.join('?' * 12)})",
    row=_build_promotion_row,
)


def list_plans(
    connection: sqlite3.Connection, sku: str, before: tuple[int, int], limit: int
) -> list[Plan]:
    """The promotions of a product that start before a place, the last to start first."""
    return [Plan(*row) for row in connection.execute(PLANS, (sku, *before, limit))]
