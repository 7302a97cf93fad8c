"""Pages of a view's rows: which, in what order, and where the next page begins."""

from dataclasses import dataclass
from typing import Any

from services.api.cursors import Cursor, Place, resume
from services.api.snapshots import Snapshot
from services.api.tables import Stored, Table

LIMIT_DEFAULT = 50
LIMIT_MAX = 500


@dataclass(frozen=True)
class Condition:
    """What a row has to meet: SQL, and the values of its places."""

    sql: str
    values: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Selection:
    """Rows of a view in an order in which no two are equal."""

    table: Table
    conditions: tuple[Condition, ...]
    order: tuple[str, ...]
    """Columns; among them are all of the key."""
    descending: bool
    question: str
    """What has to stay the same from page to page."""

    def page(
        self, snapshot: Snapshot, limit: int, cursor: str | None
    ) -> tuple[list[Stored], str | None]:
        """So many rows, and the cursor of the next page; None on the last. Raises Problem."""
        generation = snapshot.marker.generation
        after: Place | None = None
        if cursor is not None:
            kinds = tuple(self.table.types[column] for column in self.order)
            after = resume(cursor, generation, self.question, kinds)
        # One row more than the page: whether there is a next one.
        rows = snapshot.rows(*self._sql(limit + 1, after)).fetchall()
        shown = rows[:limit]
        if len(rows) == len(shown):
            return shown, None
        last = dict(zip(self.table.columns, shown[-1], strict=True))
        place = tuple(last[column] for column in self.order)
        return shown, str(Cursor(generation, self.question, place))

    def _sql(self, rows_max: int, after: Place | None) -> tuple[str, tuple[Any, ...]]:
        conditions = list(self.conditions)
        if after is not None:
            sign, places = "<" if self.descending else ">", ", ".join("?" for _ in after)
            conditions.append(Condition(f"({', '.join(self.order)}) {sign} ({places})", after))
        where = " and ".join(each.sql for each in conditions)
        order = ", ".join(f"{name} {'desc' if self.descending else 'asc'}" for name in self.order)
        sql = f"{self.table.select}{' where ' if where else ''}{where} order by {order} limit ?"
        return sql, (*(value for each in conditions for value in each.values), rows_max)
