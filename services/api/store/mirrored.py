"""The mirrored topics: the storage of prices, promotions, purchase orders, confirmations,
rejections and actions.

All times are epoch milliseconds.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from contracts import (
    ACTIONS,
    CONFIRMATIONS,
    PRICE_CHANGES,
    PROMOTIONS,
    PURCHASE_ORDERS,
    QUARANTINE,
    Contract,
    holds_from,
)
from contracts.times import to_epoch_ms, to_instant
from services.api.store.changelog import Record, read_row
from services.api.store.mirror import Layout, create_layout
from services.api.store.tables import Stored, Table


def _create_announced_layout(
    contract: Contract, table: str, measures: Sequence[str], times: Sequence[str], since: str
) -> Layout:
    """The table of a topic of announcements about products.

    Its columns are the place, `event_id`, `sku`, the measures and times of the event,
    `published_at` and `holds_from`. An index finds the rows of a product by the time in `since`.
    A second copy of an event changes nothing: the first copy counts.
    """
    numbers = (*measures, *times, "published_at", "holds_from")
    columns = ", ".join(f"{name} integer not null" for name in numbers)

    def build_row(record: Record) -> Stored | None:
        event = read_row(contract, record)
        if event is None:
            return None
        since_ms = holds_from(to_epoch_ms(event["effective_at"]), record.published_ms)
        moments = (*(to_epoch_ms(event[name]) for name in times), record.published_ms, since_ms)
        if any(to_instant(at) is None for at in moments):
            return None  # no calendar has the time, so no client can ask for it
        place = (record.partition[1], record.offset)
        measured = (event[name] for name in measures)
        return *place, event["event_id"], event["sku"], *measured, *moments

    return Layout(
        topic=contract.name,
        create=(
            f'create table {table} (partition integer not null, "offset" integer not null, '
            f"event_id text not null, sku text not null, {columns}, "
            'primary key (partition, "offset"), unique (partition, event_id, event_time)) '
            "without rowid",
            f'create index "{table} by sku" on {table} (sku, {since}, "offset")',
        ),
        insert=f"insert or ignore into {table} values ({', '.join('?' * (4 + len(numbers)))})",
        row=build_row,
    )


class PriceChange(NamedTuple):
    """A price of a product, and the time from which it holds."""

    sku: str
    price_cents: int
    effective_at: int
    event_id: str
    event_time: int
    published_at: int
    holds_from: int
    offset: int


COLUMNS = ", ".join(f'"{name}"' for name in PriceChange._fields)
# Of changes that hold from the same moment, the last announced one counts.
HOLDING = (
    f"select {COLUMNS} from changes where sku = ? and holds_from <= ? "
    'order by holds_from desc, "offset" desc limit 1'
)
NEXT = "select min(holds_from) from changes where sku = ? and holds_from > ?"
HISTORY = (
    f"select {COLUMNS} from changes "
    'where sku = ? and (holds_from, "offset") < (?, ?) '
    'order by holds_from desc, "offset" desc limit ?'
)

PRICES = _create_announced_layout(
    PRICE_CHANGES, "changes", ("price_cents",), ("event_time", "effective_at"), since="holds_from"
)


class Prices:
    """Queries of the mirrored price changes, all in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, sku: str, at_ms: int) -> tuple[PriceChange, int | None] | None:
        """The change that holds at a moment, and the start of the next; None before the first."""
        row = self._connection.execute(HOLDING, (sku, at_ms)).fetchone()
        if row is None:
            return None
        [until_ms] = self._connection.execute(NEXT, (sku, at_ms)).fetchone()
        return PriceChange(*row), until_ms

    def list_changes(self, sku: str, before: tuple[int, int], limit: int) -> list[PriceChange]:
        """The changes of a product, the last to hold first."""
        return [
            PriceChange(*row) for row in self._connection.execute(HISTORY, (sku, *before, limit))
        ]


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
PLANNED = _create_announced_layout(
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


def _render_index(name: str, table: Table, *columns: str) -> str:
    return f"create index {name} on {table.name} ({', '.join(columns)})"


ORDER_ID = "purchase_order_id"
NEWEST_ORDERS_FIRST = ("review_at", ORDER_ID)
ORDERS_TABLE = Table(PURCHASE_ORDERS, key=(ORDER_ID,))
CONFIRMATIONS_TABLE = Table(CONFIRMATIONS, key=(ORDER_ID,))

# A second record of the same order changes nothing.
ORDERS = create_layout(
    ORDERS_TABLE,
    "ignore",
    _render_index("newest", ORDERS_TABLE, *NEWEST_ORDERS_FIRST),
    _render_index("shelves", ORDERS_TABLE, "store_id", "sku", *NEWEST_ORDERS_FIRST),
)
CONFIRMED = create_layout(CONFIRMATIONS_TABLE, "ignore")

REJECTIONS_TABLE = Table(QUARANTINE)
NEWEST_REJECTIONS_FIRST = ("published_at", *QUARANTINE.key)

# The quarantine may copy a record twice; the copies are one row.
REJECTIONS = create_layout(
    REJECTIONS_TABLE,
    "replace",
    _render_index("newest", REJECTIONS_TABLE, *NEWEST_REJECTIONS_FIRST),
    _render_index("counts", REJECTIONS_TABLE, "topic", "reason", "published_at"),
)

ACTIONS_TABLE = Table(ACTIONS)
NEWEST_ACTIONS_FIRST = ("asked_at", *ACTIONS.key)

# The last record of an action has all of it.
AUDITED = create_layout(
    ACTIONS_TABLE, "replace", _render_index("newest", ACTIONS_TABLE, *NEWEST_ACTIONS_FIRST)
)
