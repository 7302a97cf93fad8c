"""The mirrored topics: the storage of prices, promotions, purchase orders, confirmations,
rejections and actions.

All times are epoch milliseconds.
"""

import sqlite3
from typing import Any

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
from services.api.store.selection import Place
from services.api.store.tables import KINDS, Document, Stored, Table
from services.times import render_instant

Announced = dict[str, Any]
"""An announcement: the fields of the event, `published_at`, `holds_from` and `offset`."""


class Announcements:
    """The storage of a topic of announcements about products, and its queries.

    A second copy of an event in a partition changes nothing: the first copy counts.
    """

    def __init__(self, contract: Contract, since: str) -> None:
        """`since`: the time that orders the announcements of a product."""
        self.contract = contract
        self._table = Table(contract)
        self._since = since
        rows = self._table.name
        kinds = {field.name: KINDS[field.type].sql for field in contract.fields}
        kinds |= dict.fromkeys(("published_at", "holds_from", "offset"), "integer")
        columns = ", ".join(f'"{name}" {kind} not null' for name, kind in kinds.items())
        self._names = tuple(kinds)
        self._select = "select {} from {}".format(
            ", ".join(f'"{name}"' for name in self._names), rows
        )
        self.layout = Layout(
            topic=contract.name,
            create=(
                f"create table {rows} ({columns}, partition integer not null, "
                'primary key (partition, "offset"), unique (partition, event_id, event_time)) '
                "without rowid",
                f'create index "by sku" on {rows} (sku, {since}, "offset")',
            ),
            insert=f"insert or ignore into {rows} values ({', '.join('?' * (len(kinds) + 1))})",
            row=self._build_row,
        )

    def find(
        self, connection: sqlite3.Connection, sku: str, at_ms: int
    ) -> tuple[Announced, int | None] | None:
        """What holds at a moment, and the start of the next; None before the first.

        Of announcements that hold from the same moment, the last one counts.
        """
        holding = (
            f"{self._select} where sku = ? and holds_from <= ? "
            'order by holds_from desc, "offset" desc limit 1'
        )
        row = connection.execute(holding, (sku, at_ms)).fetchone()
        if row is None:
            return None
        [until_ms] = connection.execute(
            f"select min(holds_from) from {self._table.name} where sku = ? and holds_from > ?",
            (sku, at_ms),
        ).fetchone()
        return self._name(row), until_ms

    def list_before(
        self, connection: sqlite3.Connection, sku: str, place: Place, limit: int
    ) -> list[Announced]:
        """The announcements of a product before a place, the last first."""
        before = (
            f'{self._select} where sku = ? and ({self._since}, "offset") < (?, ?) '
            f'order by {self._since} desc, "offset" desc limit ?'
        )
        return [self._name(row) for row in connection.execute(before, (sku, *place, limit))]

    def place(self, announced: Announced) -> Place:
        """The place of an announcement among those of its product."""
        return announced[self._since], announced["offset"]

    def to_json(self, announced: Announced) -> Document:
        """An announcement as clients see it."""
        times = {name: render_instant(announced[name]) for name in ("published_at", "holds_from")}
        return {**self._table.to_json([announced[name] for name in self._table.columns]), **times}

    def _build_row(self, record: Record) -> Stored | None:
        event = read_row(self.contract, record)
        if event is None:
            return None
        since_ms = holds_from(to_epoch_ms(event["effective_at"]), record.published_ms)
        times = [event[field.name] for field in self.contract.fields if field.type == "timestamp"]
        moments = (*map(to_epoch_ms, times), record.published_ms, since_ms)
        if any(to_instant(at) is None for at in moments):
            return None  # no calendar has the time, so no client can ask for it
        place = (record.offset, record.partition[1])
        return *self._table.to_stored(event), record.published_ms, since_ms, *place

    def _name(self, row: Stored) -> Announced:
        return dict(zip(self._names, row, strict=True))


PRICES = Announcements(PRICE_CHANGES, since="holds_from")
PLANNED = Announcements(PROMOTIONS, since="starts_at")


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
