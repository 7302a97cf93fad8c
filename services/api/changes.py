"""What each commit changed, kept for a while, so that a reader who was away can catch up.

Written in the transaction of the commit, so the changes lead from marker to marker exactly. A row
is kept as it stands at the marker, however often it was written on the way there.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.api.marker import Marker
from services.api.snapshots import Snapshot
from services.api.tables import Stored, Table

ROWS_PER_CHANGE_MAX = 1_000  # more is catching up: whoever follows does better to fetch the view
ROWS_KEPT_MAX = 50_000  # about 15 MB; minutes of a busy shop

LAYOUT = """
create table changes (
    number integer primary key,
    view text not null,
    batch integer not null,
    through integer not null,
    rows text
);
create index "changes by batch" on changes (view, batch)
"""
"""`through` counts entries and rows up to this one; `rows` is null where there were too many."""

OLDEST_KEPT = "select number from changes where through > ? order by number limit 1"
AFTER = (
    "select number, batch, rows from changes where view = ? and number > ? order by number limit 1"
)


class Touched:
    """The keys written since the last commit, view by view."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._keys: dict[str, dict[Stored, None]] = {}

    def add(self, view: str, rows: Iterable[Stored]) -> None:
        keys = self._keys.setdefault(view, {})
        for row in rows:
            if len(keys) > ROWS_PER_CHANGE_MAX:
                return
            keys[self._tables[view].key_of(row)] = None

    def record(self, connection: sqlite3.Connection, marker: Marker) -> None:
        """Write an entry per view into the open transaction, and drop what is too old."""
        found = connection.execute(
            "select through from changes order by number desc limit 1"
        ).fetchone()
        through = found[0] if found else 0
        for view, table in self._tables.items():
            keys = self._keys.get(view, {})
            through += 1 + len(keys)
            rows = _rows(connection, table, keys)
            connection.execute(
                "insert into changes (view, batch, through, rows) values (?, ?, ?, ?)",
                (view, marker.batch, through, rows),
            )
        connection.execute(
            f"delete from changes where number < ({OLDEST_KEPT})", (through - ROWS_KEPT_MAX,)
        )
        self._keys.clear()


@dataclass(frozen=True)
class Change:
    number: int  # its place in the order of all changes
    batch: int
    rows: str | None  # a JSON list; None where there were too many to keep


def following(snapshot: Snapshot, view: str, number: int) -> Change | None:
    """The view's next change after this place."""
    found = snapshot.rows(AFTER, (view, number)).fetchone()
    return Change(*found) if found else None


def place(snapshot: Snapshot, view: str, batch: int) -> int | None:
    """The place of the change that ended with the batch; None where it is not kept."""
    sql = "select max(number) from changes where view = ? and batch = ?"
    return snapshot.rows(sql, (view, batch)).fetchone()[0]  # type: ignore[no-any-return]


def kept(snapshot: Snapshot) -> tuple[int, int]:
    """The places of the oldest and the newest change that are kept."""
    oldest, newest = snapshot.rows("select min(number), max(number) from changes").fetchone()
    return oldest or 0, newest or 0


def _rows(connection: sqlite3.Connection, table: Table, keys: Mapping[Stored, None]) -> str | None:
    if len(keys) > ROWS_PER_CHANGE_MAX:
        return None
    found = (connection.execute(table.select_one, key).fetchone() for key in keys)
    rows = [table.shown(row) for row in found if row]  # some may be older than what is kept
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
