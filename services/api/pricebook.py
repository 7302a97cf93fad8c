"""How price changes are kept, and what is asked of them. All times are epoch ms."""

import logging
import sqlite3
from typing import Any

from contracts import PRICE_CHANGES, holds_from
from contracts.judging import Rejection, instant, judge
from services.api.changelog import Record
from services.api.copying import Layout, reached
from services.api.marker import Offsets
from services.api.tables import Stored

CREATE = """
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

COLUMNS = (
    *("sku", "price_cents", "effective_at", "event_id", "event_time"),
    *("published_at", "holds_from"),
)
LISTED = ", ".join(COLUMNS)
# Of changes that hold from the same moment on, the one announced last does.
HOLDING = (
    f"select {LISTED} from changes where sku = ? and holds_from <= ? "
    'order by holds_from desc, "offset" desc limit 1'
)
NEXT = "select min(holds_from) from changes where sku = ? and holds_from > ?"
HISTORY = (
    f'select {LISTED}, "offset" from changes '
    'where sku = ? and (holds_from, "offset") < (?, ?) '
    'order by holds_from desc, "offset" desc limit ?'
)
SKUS = "select distinct sku from changes where sku > ? and holds_from <= ? order by sku limit ?"

log = logging.getLogger("api.pricebook")


def _row(record: Record) -> Stored | None:
    """The change in a record; None where it is rejected, as quarantine says."""
    event = judge(PRICE_CHANGES, record.key, record.value, record.published_ms)
    if isinstance(event, Rejection):
        log.info("%s/%d at %d: %s", *record.partition, record.offset, event.reason)
        return None
    since_ms = holds_from(event["effective_at"], record.published_ms)
    times = (event["event_time"], event["effective_at"], record.published_ms, since_ms)
    if any(instant(at) is None for at in times):
        return None  # no calendar has it, so nobody can ask for it
    place = (record.partition[1], record.offset)
    return *place, event["event_id"], event["sku"], event["price_cents"], *times


PRICEBOOK = Layout(
    topic=PRICE_CHANGES.name,
    create=tuple(CREATE.split(";")),
    # An event that comes again changes nothing: the first copy counts.
    insert="insert or ignore into changes values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    row=_row,
)


class Prices:
    """Questions to the copy, all within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def reached(self) -> Offsets:
        return reached(self._connection, PRICE_CHANGES.name)

    def holding(self, sku: str, at_ms: int) -> dict[str, Any] | None:
        """The change that holds at a moment, and until when; None before the first."""
        found = self._connection.execute(HOLDING, (sku, at_ms)).fetchone()
        if found is None:
            return None
        [until_ms] = self._connection.execute(NEXT, (sku, at_ms)).fetchone()
        return {**_named(found), "until": until_ms}

    def skus(self, after: str, at_ms: int, limit: int) -> list[str]:
        """In order, those that have a price at the moment."""
        return [sku for (sku,) in self._connection.execute(SKUS, (after, at_ms, limit))]

    def history(self, sku: str, before: tuple[int, int], limit: int) -> list[dict[str, Any]]:
        """The changes of a product, the last to hold first."""
        rows = self._connection.execute(HISTORY, (sku, *before, limit)).fetchall()
        return [{**_named(row), "offset": row[-1]} for row in rows]


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(COLUMNS, row, strict=False))
