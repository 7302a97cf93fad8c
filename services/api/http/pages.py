"""Pages of a list: the place where one begins, its rows, and the cursor of the next."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.api.http.cursors import NO_GENERATION, Cursor, resume
from services.api.http.parameters import PageQuery
from services.api.store.selection import Place, Selection, match
from services.api.store.tables import Stored, Table

Row = TypeVar("Row")

Execute = Callable[[str, tuple[str | int, ...]], sqlite3.Cursor]
"""Runs SQL within one transaction."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some of the rows, and the cursor of the next page; None on the last."""

    items: Sequence[Row]
    next: str | None


@dataclass(frozen=True)
class PageRequest:
    """The page of a list that a client asks for."""

    limit: int
    """Rows per page."""
    cursor: str | None
    """The `next` of the page before; None asks for the first page."""
    question: str
    """The filters and the sort, which stay the same from page to page."""
    types: tuple[type, ...]
    """The types of a row's place."""
    generation: int = NO_GENERATION

    @property
    def rows_max(self) -> int:
        """One row more than the page has: the extra row means that there is a next page."""
        return self.limit + 1

    def find_place(self) -> Place | None:
        """The place after which the page begins; None begins at the first row. Raises Problem."""
        if self.cursor is None:
            return None
        return resume(self.cursor, self.generation, self.question, self.types)

    def build(self, rows: Sequence[Row], place: Callable[[Row], Place]) -> Page[Row]:
        """The page of these rows, at most `rows_max`; `place` returns a row's place."""
        items = rows[: self.limit]
        if len(items) == len(rows):
            return Page(items, None)
        return Page(items, str(Cursor(self.generation, self.question, place(items[-1]))))


def request_newest(
    query: PageQuery, what: str, table: Table, newest_first: tuple[str, ...]
) -> tuple[Selection, PageRequest]:
    """The rows that the query's filters select, the newest first, and the requested page of them.

    Raises Problem for an invalid cursor, even while the table is loading.
    """
    filters = query.select_filters()
    selection = Selection(table, match(filters), newest_first, descending=True)
    request = PageRequest(query.limit, query.cursor, f"{what} of {filters}", selection.types)
    request.find_place()
    return selection, request


def select_page(execute: Execute, selection: Selection, request: PageRequest) -> Page[Stored]:
    """The requested page of a table's rows. Raises Problem for a cursor of another list."""
    rows = execute(*selection.build_query(request.rows_max, request.find_place())).fetchall()
    return request.build(rows, selection.place)
