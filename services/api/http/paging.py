"""Pages of a list: the place where one begins, its rows, and the cursor of the next.

A cursor holds the sort value and the key of the last row of its page, the question, and the
generation. Rows that come, go or change between two pages neither repeat nor hide a row that stays.
"""

import base64
import binascii
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Generic, TypeVar

from services.api.problem import Invalid, Problem
from services.api.store.tables import WHOLE_MAX, WHOLE_MIN, Place, Selection, Stored

CHARACTERS_MAX = 1_024
NO_GENERATION = 0  # of an answer from no generation of a pipeline

Row = TypeVar("Row")

Execute = Callable[[str, tuple[str | int, ...]], sqlite3.Cursor]
"""Runs SQL within one transaction."""


@dataclass(frozen=True)
class Cursor:
    generation: int
    question: str
    after: Place

    def __str__(self) -> str:
        parts = [self.generation, self.question, list(self.after)]
        text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


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
        """The place after which the page begins; None begins at the first row.

        Raises Problem unless the cursor fits question and generation.
        """
        if self.cursor is None:
            return None
        cursor = _parse(self.cursor)
        if cursor is None or not _fits(cursor.after, self.types):
            raise Invalid(
                "Invalid cursor",
                f"cursor: expected the `next` of an earlier page, found {self.cursor[:80]!r}. "
                "Leave it out to begin with the first page.",
            )
        if cursor.generation != self.generation:
            raise Problem(
                HTTPStatus.GONE,
                "Cursor of another generation",
                f"cursor: expected one of generation {self.generation}, which is served now, found "
                f"one of generation {cursor.generation}. Its pages may differ: begin with the "
                "first page.",
                generation=self.generation,
            )
        if cursor.question != self.question:
            raise Invalid(
                "Cursor of another question",
                f"cursor: expected one made for {self.question!r}, found one made for "
                f"{cursor.question!r}. Keep filters and sort unchanged from page to page.",
            )
        return cursor.after

    def build(self, rows: Sequence[Row], place: Callable[[Row], Place]) -> Page[Row]:
        """The page of these rows, at most `rows_max`; `place` returns a row's place."""
        items = rows[: self.limit]
        if len(items) == len(rows):
            return Page(items, None)
        return Page(items, str(Cursor(self.generation, self.question, place(items[-1]))))

    def select(self, execute: Execute, selection: Selection) -> Page[Stored]:
        """The page of a table's rows. Raises Problem for a cursor of another list."""
        rows = execute(*selection.build_query(self.rows_max, self.find_place())).fetchall()
        return self.build(rows, selection.place)


def _fits(place: Place, kinds: tuple[type, ...]) -> bool:
    return [type(value) for value in place] == list(kinds) and all(
        WHOLE_MIN <= value <= WHOLE_MAX for value in place if isinstance(value, int)
    )


def _parse(text: str) -> Cursor | None:
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        generation, question, after = json.loads(decoded)
        "".join(map(str, after)).encode()  # fails for half a surrogate pair, which JSON can spell
    except (binascii.Error, ValueError, TypeError):
        return None
    fits = isinstance(generation, int) and isinstance(question, str) and isinstance(after, list)
    return Cursor(generation, question, tuple(after)) if fits else None
