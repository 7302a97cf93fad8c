"""The mirrored topics: the storage of prices, purchase orders, confirmations, rejections and
actions.

All times are epoch milliseconds.
"""

import sqlite3
from typing import NamedTuple

from contracts import ACTIONS, CONFIRMATIONS, PRICE_CHANGES, PURCHASE_ORDERS, QUARANTINE
from services.api.store.announced import build_row, read_event
from services.api.store.changelog import Record
from services.api.store.mirror import Layout, create_layout
from services.api.store.tables import Stored, Table

CREATE_CHANGES = """
create table changes (
    partition integer not null,
    "offset" integer not null,
    event_id text not null,
    sku text not null,
    price_cents integer not null,
    event_time integer not null,
    effective_at integer not null,
    published_at integer not null,
    holds_from integer not null,
    primary key (partition, "offset"),
    unique (partition, event_id)
) without rowid;
create index "changes by sku" on changes (sku, holds_from, "offset")
"""


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
SKUS = "select distinct sku from changes where sku > ? and holds_from <= ? order by sku limit ?"


def _build_price_row(record: Record) -> Stored | None:
    event = read_event(PRICE_CHANGES, record)
    if event is None:
        return None
    return build_row(record, event, (event["price_cents"],), ("event_time", "effective_at"))


PRICES = Layout(
    topic=PRICE_CHANGES.name,
    create=tuple(CREATE_CHANGES.split(";")),
    # A second copy of an event changes nothing: the first copy counts.
    insert="insert or ignore into changes values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    row=_build_price_row,
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

    def list_skus(self, after: str, at_ms: int, limit: int) -> list[str]:
        """The products that have a price at the moment, in order."""
        return [sku for (sku,) in self._connection.execute(SKUS, (after, at_ms, limit))]

    def list_changes(self, sku: str, before: tuple[int, int], limit: int) -> list[PriceChange]:
        """The changes of a product, the last to hold first."""
        return [
            PriceChange(*row) for row in self._connection.execute(HISTORY, (sku, *before, limit))
        ]


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
