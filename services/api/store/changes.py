"""The log of changes per commit, from which a reader catches up after an absence.

The transaction of a commit writes its changes, so they lead exactly from marker to marker. The log
has a changed row once, as it is at the marker.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.api.store.marker import Marker
from services.api.store.snapshots import Snapshot
from services.api.store.tables import Stored, Table
from services.api.turns import give_way

ROWS_PER_CHANGE_MAX = 1_000  # a reader that is further behind should fetch the view
ROWS_KEPT_MAX = 50_000  # about 15 MB; minutes of a busy shop

LAYOUT = (
    "create table changes (number integer primary key, view text not null, "
    "batch integer not null, through integer not null, rows text)",
    'create index "changes by batch" on changes (view, batch)',
)
"""`through` counts entries and rows up to this one; `rows` is null where there were too many."""

OLDEST_KEPT = "select number from changes where through > ? order by number limit 1"
AFTER = (
    "select number, batch, rows from changes where view = ? and number > ? order by number limit 1"
)


class Touched:
    """The keys written since the last commit, per view."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._keys: dict[str, dict[Stored, None]] = {}

    def add(self, view: str, rows: Iterable[Stored]) -> None:
        keys = self._keys.setdefault(view, {})
        for row in rows:
            if len(keys) > ROWS_PER_CHANGE_MAX:
                return
            keys[self._tables[view].get_key(row)] = None

    def record(self, connection: sqlite3.Connection, marker: Marker) -> None:
        """Log a change per view in the open transaction, and delete changes that are too old."""
        newest = connection.execute(
            "select through from changes order by number desc limit 1"
        ).fetchone()
        through = newest[0] if newest else 0
        for view, table in self._tables.items():
            keys = self._keys.get(view, {})
            through += 1 + len(keys)
            rows = _render_rows(connection, table, keys)
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
    number: int  # its position in the order of all changes
    batch: int
    rows: str | None  # a JSON list; None where there were too many to keep


def find_next(snapshot: Snapshot, view: str, number: int) -> Change | None:
    """The view's next change after this position."""
    row = snapshot.select(AFTER, (view, number)).fetchone()
    return Change(*row) if row else None


def find_position(snapshot: Snapshot, view: str, batch: int) -> int | None:
    """The position of the change that ended with the batch; None where it is not kept."""
    sql = "select max(number) from changes where view = ? and batch = ?"
    return snapshot.select(sql, (view, batch)).fetchone()[0]  # type: ignore[no-any-return]


def find_extent(snapshot: Snapshot) -> tuple[int, int]:
    """The positions of the oldest and the newest change in the log."""
    oldest, newest = snapshot.select("select min(number), max(number) from changes").fetchone()
    return oldest or 0, newest or 0


def _render_rows(
    connection: sqlite3.Connection, table: Table, keys: Mapping[Stored, None]
) -> str | None:
    if len(keys) > ROWS_PER_CHANGE_MAX:
        return None
    stored = (connection.execute(table.select_one, key).fetchone() for key in give_way(keys))
    rows = [table.to_json(row) for row in stored if row]  # retention may have deleted some
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
