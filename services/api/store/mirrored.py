"""The mirrored topics: the storage of prices, promotions, purchase orders, confirmations,
rejections and actions.

All times are epoch milliseconds.
"""

import json
import sqlite3

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
from contracts.times import to_instant
from services.api.store.changelog import Record, read_row
from services.api.store.mirror import Layout, create_layout
from services.api.store.selection import Place
from services.api.store.tables import Document, Stored, Table
from services.times import render_instant


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
        self.layout = Layout(
            topic=contract.name,
            create=(
                f"create table {rows} (partition integer not null, "
                '"offset" integer not null, event_id text not null, event_time integer not null, '
                "sku text not null, since integer not null, document text not null, "
                'primary key (partition, "offset"), unique (partition, event_id, event_time)) '
                "without rowid",
                f'create index "by sku" on {rows} (sku, since, "offset")',
            ),
            insert=f"insert or ignore into {rows} values (?, ?, ?, ?, ?, ?, ?)",
            row=self._build_row,
        )

    def find(
        self, connection: sqlite3.Connection, sku: str, at_ms: int
    ) -> tuple[Document, int | None] | None:
        """What holds at a moment, and the start of the next; None before the first.

        Of announcements that hold from the same moment, the last one counts.
        """
        holding = (
            f"select document from {self._table.name} where sku = ? and since <= ? "
            'order by since desc, "offset" desc limit 1'
        )
        row = connection.execute(holding, (sku, at_ms)).fetchone()
        if row is None:
            return None
        [until_ms] = connection.execute(
            f"select min(since) from {self._table.name} where sku = ? and since > ?", (sku, at_ms)
        ).fetchone()
        return json.loads(row[0]), until_ms

    def list_before(
        self, connection: sqlite3.Connection, sku: str, place: Place, limit: int
    ) -> list[Stored]:
        """Place and JSON of the announcements of a product before a place, the last first."""
        before = (
            f'select since, "offset", document from {self._table.name} '
            'where sku = ? and (since, "offset") < (?, ?) '
            'order by since desc, "offset" desc limit ?'
        )
        return connection.execute(before, (sku, *place, limit)).fetchall()

    def _build_row(self, record: Record) -> Stored | None:
        event = read_row(self.contract, record)
        if event is None:
            return None
        row = self._table.to_stored(event)
        times = {
            field.name: at
            for field, at in zip(self.contract.fields, row, strict=True)
            if field.type == "timestamp"
        }
        times["published_at"] = record.published_ms
        times["holds_from"] = holds_from(times["effective_at"], record.published_ms)
        if any(to_instant(at) is None for at in times.values()):
            return None  # no calendar has the time, so no client can ask for it
        added = {name: render_instant(times[name]) for name in ("published_at", "holds_from")}
        return (
            record.partition[1],
            record.offset,
            event["event_id"],
            times["event_time"],
            event["sku"],
            times[self._since],
            json.dumps({**self._table.to_json(row), **added}),
        )


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
