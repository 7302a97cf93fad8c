"""A selection: rows of a table in an order, from a place on."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.store.tables import Stored, Table

WHOLE_MIN, WHOLE_MAX = -(2**63), 2**63 - 1
"""The whole numbers that SQLite can compare."""

Place = tuple[str | int, ...]
"""Values of the columns that rows are sorted by, in their order."""


@dataclass(frozen=True)
class Condition:
    """A condition of a row in SQL, and the values of its placeholders."""

    sql: str
    values: tuple[str | int, ...] = ()


def match(values: Mapping[str, str]) -> tuple[Condition, ...]:
    """One condition per column: it has this value."""
    return tuple(Condition(f"{column} = ?", (value,)) for column, value in values.items())


@dataclass(frozen=True)
class Selection:
    """Rows of a table in an order in which no two are equal."""

    table: Table
    conditions: tuple[Condition, ...]
    order: tuple[str, ...]
    """Columns; they include all of the key."""
    descending: bool

    @property
    def types(self) -> tuple[type, ...]:
        """The types of a place."""
        return tuple(self.table.types[column] for column in self.order)

    def place(self, row: Stored) -> Place:
        """The place of the row in the order."""
        columns = self.table.columns
        return tuple(row[columns.index(column)] for column in self.order)

    def build_query(self, rows_max: int, after: Place | None) -> tuple[str, tuple[str | int, ...]]:
        """SQL and its values: at most `rows_max` rows, after the place or from the beginning."""
        conditions = list(self.conditions)
        if after is not None:
            sign, places = "<" if self.descending else ">", ", ".join("?" for _ in after)
            conditions.append(Condition(f"({', '.join(self.order)}) {sign} ({places})", after))
        where = " and ".join(each.sql for each in conditions)
        order = ", ".join(f"{name} {'desc' if self.descending else 'asc'}" for name in self.order)
        sql = f"{self.table.select}{' where ' if where else ''}{where} order by {order} limit ?"
        return sql, (*(value for each in conditions for value in each.values), rows_max)
