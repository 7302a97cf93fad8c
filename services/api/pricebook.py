"""Every price change that the log holds, in one SQLite file: written by one thread, read by many.

Changes and the offset to go on from are one transaction, so it may die anywhere.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from services.api.database import connect, remove
from services.api.marker import Offsets

LAYOUT = """
create table identity (topic_id text not null, layout integer not null);
create table progress (
    topic text not null,
    partition integer not null,
    next integer not null,
    primary key (topic, partition)
) without rowid;
create table changes (
    partition integer not null,
    "offset" integer not null,
    event_id text not null,
    sku text not null,
    price_cents integer not null,
    event_time integer not null,
    effective_at integer not null,
    published_at integer not null,
    primary key (partition, "offset"),
    unique (partition, event_id)
) without rowid;
create index "changes by sku" on changes (sku, effective_at, "offset")
"""
LAYOUT_VERSION = 1

COLUMNS = "sku, price_cents, effective_at, event_id, event_time, published_at"
# Of changes that take effect at the same moment, the one announced last holds.
HOLDING = (
    f"select {COLUMNS} from changes where sku = ? and effective_at <= ? "
    'order by effective_at desc, "offset" desc limit 1'
)
NEXT = "select min(effective_at) from changes where sku = ? and effective_at > ?"
HISTORY = (
    f'select {COLUMNS}, "offset" from changes '
    'where sku = ? and (effective_at, "offset") < (?, ?) '
    'order by effective_at desc, "offset" desc limit ?'
)
SKUS = "select distinct sku from changes where sku > ? and effective_at <= ? order by sku limit ?"


class Change(NamedTuple):
    """A row of the table; times in epoch ms, published in world time."""

    partition: int
    offset: int
    event_id: str
    sku: str
    price_cents: int
    event_time: int
    effective_at: int
    published_at: int


class Pricebook:
    """The file, and both sides of it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def usable(self, topic_id: str) -> bool:
        """Whether there is a sound file that was made from this topic."""
        if not self.path.exists():
            return False
        try:
            with closing(connect(self.path)) as connection:
                identity = connection.execute("select topic_id, layout from identity").fetchone()
                [verdict] = connection.execute("pragma quick_check(1)").fetchone()
        except sqlite3.DatabaseError:
            return False
        return bool(verdict == "ok" and identity == (topic_id, LAYOUT_VERSION))

    def make(self, topic_id: str) -> None:
        """An empty file in the place of whatever is there."""
        remove(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(connect(self.path)) as connection:
            connection.execute("begin immediate")
            for statement in LAYOUT.split(";"):
                connection.execute(statement)
            connection.execute("insert into identity values (?, ?)", (topic_id, LAYOUT_VERSION))
            connection.execute("commit")

    @contextmanager
    def reading(self) -> Iterator["Prices"]:
        """The prices at one moment of the log, however long one looks."""
        address = f"{self.path.as_uri()}?mode=ro"
        # Opened anew each time: a tenth of a millisecond, and nothing to look after.
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.execute("begin")
            yield Prices(connection)


def keep(connection: sqlite3.Connection, changes: Iterable[Change], reached: Offsets) -> None:
    """Write the changes and where to go on, as one; an event that comes again changes nothing."""
    connection.execute("begin immediate")
    connection.executemany("insert or ignore into changes values (?, ?, ?, ?, ?, ?, ?, ?)", changes)
    connection.executemany(
        "insert or replace into progress values (?, ?, ?)",
        [(topic, partition, offset) for (topic, partition), offset in reached.items()],
    )
    connection.execute("commit")


def progress(connection: sqlite3.Connection) -> Offsets:
    """Where to go on."""
    found = connection.execute("select topic, partition, next from progress")
    return {(topic, partition): following for topic, partition, following in found}


class Prices:
    """Questions to the file, all within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def reached(self) -> Offsets:
        return progress(self._connection)

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
        """The changes of a product, the last to take effect first."""
        rows = self._connection.execute(HISTORY, (sku, *before, limit)).fetchall()
        return [{**_named(row), "offset": row[-1]} for row in rows]


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(COLUMNS.split(", "), row, strict=False))
