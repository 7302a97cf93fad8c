"""Page cursors: where the next page begins, for which question, in which generation.

A cursor holds the sort value and key of the last row shown, so rows that come, go or change
between two pages neither repeat nor hide a row that stands still.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from services.api.problems import Problem

CHARACTERS_MAX = 1_024
NO_GENERATION = 0  # of an answer that is no view of a pipeline
WHOLE_MIN, WHOLE_MAX = -(2**63), 2**63 - 1  # what SQLite can compare with

Place = tuple[str | int, ...]
"""Values of the sort columns, in their order."""


@dataclass(frozen=True)
class Cursor:
    generation: int
    question: str  # the filters and the sort it was made for
    after: Place

    def __str__(self) -> str:
        parts = [self.generation, self.question, list(self.after)]
        text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def paged(
    found: Sequence[dict[str, Any]], limit: int, question: str, names: Sequence[str]
) -> tuple[Sequence[dict[str, Any]], str | None]:
    """The rows of a page, and the cursor of the next one; None on the last page.

    Where there is a next one, one row more was found than a page has. `names` are the columns that
    rows are sorted by. The answer is of no generation.
    """
    shown = found[:limit]
    if len(shown) == len(found):
        return shown, None
    place = tuple(shown[-1][name] for name in names)
    return shown, str(Cursor(NO_GENERATION, question, place))


def pinned(text: str | None) -> int | None:
    """The generation whose pages the cursor goes on with; None where it says nothing."""
    cursor = None if text is None else _parse(text)
    return None if cursor is None else cursor.generation


def resume(text: str, generation: int, question: str, kinds: tuple[type, ...]) -> Place:
    """Where to go on; raises Problem unless the cursor fits the question and the generation."""
    cursor = _parse(text)
    if cursor is None or not _fits(cursor.after, kinds):
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "Invalid cursor",
            f"cursor: expected the `next` of an earlier page, found {text[:80]!r}. "
            "Leave it out to begin with the first page.",
        )
    if cursor.generation != generation:
        raise Problem(
            HTTPStatus.GONE,
            "Cursor of another generation",
            f"cursor: expected one of generation {generation}, which is served now, found one of "
            f"generation {cursor.generation}. Its pages may differ: begin with the first page.",
            generation=generation,
        )
    if cursor.question != question:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "Cursor of another question",
            f"cursor: expected one made for {question!r}, found one made for "
            f"{cursor.question!r}. Keep filters and sort unchanged from page to page.",
        )
    return cursor.after


def _fits(place: Place, kinds: tuple[type, ...]) -> bool:
    return [type(value) for value in place] == list(kinds) and all(
        WHOLE_MIN <= value <= WHOLE_MAX for value in place if isinstance(value, int)
    )


def _parse(text: str) -> Cursor | None:
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        generation, question, after = json.loads(decoded)
        "".join(map(str, after)).encode()  # refuses half characters, which JSON can spell
    except (binascii.Error, ValueError, TypeError):
        return None
    fits = isinstance(generation, int) and isinstance(question, str) and isinstance(after, list)
    return Cursor(generation, question, tuple(after)) if fits else None
