"""Page cursors: the place where the next page begins, the question, and the generation.

A cursor holds the sort value and the key of the last row of its page. Rows that come, go or change
between two pages neither repeat nor hide a row that stays.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from http import HTTPStatus

from services.api.http.problems import Problem
from services.api.store.selection import WHOLE_MAX, WHOLE_MIN, Place

CHARACTERS_MAX = 1_024
NO_GENERATION = 0  # of an answer from no generation of a pipeline


@dataclass(frozen=True)
class Cursor:
    generation: int
    question: str  # the filters and the sort it was made for
    after: Place

    def __str__(self) -> str:
        parts = [self.generation, self.question, list(self.after)]
        text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_generation(text: str | None) -> int | None:
    """The generation of the cursor; None for a text that is no cursor."""
    cursor = None if text is None else _parse(text)
    return None if cursor is None else cursor.generation


def resume(text: str, generation: int, question: str, kinds: tuple[type, ...]) -> Place:
    """The place to go on after. Raises Problem unless the cursor fits question and generation."""
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
        "".join(map(str, after)).encode()  # fails for half a surrogate pair, which JSON can spell
    except (binascii.Error, ValueError, TypeError):
        return None
    fits = isinstance(generation, int) and isinstance(question, str) and isinstance(after, list)
    return Cursor(generation, question, tuple(after)) if fits else None
