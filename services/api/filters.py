"""What may be asked of any view's rows: its contract says which fields can be compared."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from http import HTTPStatus
from typing import NoReturn
from urllib.parse import urlencode

from contracts import Contract, Field
from services.api.cursors import WHOLE_MAX, WHOLE_MIN
from services.api.marker import epoch_ms
from services.api.problems import INPUT_SHOWN_CHARACTERS_MAX, Problem
from services.api.selecting import Condition
from services.api.tables import EPOCH

FROM, UNTIL = "from", "until"
VALUE_CHARACTERS_MAX = 256
WHOLE = re.compile(r"-?\d{1,19}")
EXPECTED = {
    "string": f"a text of at most {VALUE_CHARACTERS_MAX} characters",
    "int": "a whole number",
    "long": "a whole number",
    "boolean": "true or false",
    "timestamp": "a time with its zone, as 2026-03-02T10:00:00Z, or milliseconds of 1970",
}


@cache
def comparable(view: Contract) -> Mapping[str, Field]:
    """The fields that a row may be asked for by value: those of the key, and every text."""
    return {
        field.name: field
        for field in view.fields
        if field.name in view.key or field.type == "string"
    }


def accepted(view: Contract) -> list[str]:
    """Every filter of the view, by the name of its parameter."""
    return [*comparable(view), *((FROM, UNTIL) if view.began else ())]


def conditions(view: Contract, asked: Mapping[str, object]) -> tuple[Condition, ...]:
    """What the query asks of a row; raises Problem where the view has no such filter."""
    for name in asked:
        if name not in accepted(view):
            _refuse(f"{name}: expected one of {', '.join(accepted(view))} for {view.name}")
    made = [
        Condition(f'"{name}" = ?', (value(name, field, asked[name]),))
        for name, field in comparable(view).items()
        if name in asked
    ]
    for name, sign in ((FROM, ">="), (UNTIL, "<")):
        if name in asked:
            moment = value(name, _field(view, str(view.began)), asked[name])
            made.append(Condition(f'"{view.began}" {sign} ?', (moment,)))
    return tuple(made)


def question(asked: Mapping[str, object], order: str) -> str:
    """What has to stay the same from page to page."""
    return urlencode(sorted({**asked, "order": order}.items()))


def key_values(view: Contract, spelled: str) -> tuple[str | int, ...]:
    """A key's values as a table keeps them; raises Problem unless it has a part for each field."""
    parts = spelled.split("/")
    if len(parts) != len(view.key):
        _refuse(f"key: expected {'/'.join(view.key)}, found {_shown(spelled)}")
    pairs = zip(view.key, parts, strict=True)
    return tuple(value(name, _field(view, name), part) for name, part in pairs)


def value(name: str, field: Field, text: object) -> str | int:
    """A parameter's value as a table keeps it; raises Problem unless it has the field's type."""
    found = _kept(field.type, text) if isinstance(text, str) else None
    if found is None:
        _refuse(f"{name}: expected {EXPECTED[field.type]}, once, found {_shown(text)}")
    return found


def _kept(kind: str, text: str) -> str | int | None:
    if kind == "string":
        return text if len(text) <= VALUE_CHARACTERS_MAX else None
    if kind == "boolean":
        return {"true": 1, "false": 0}.get(text)
    if WHOLE.fullmatch(text):
        number = int(text)
        return number if WHOLE_MIN <= number <= WHOLE_MAX else None
    return _moment_ms(text) if kind == "timestamp" else None


def _moment_ms(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        return epoch_ms(moment) if moment.tzinfo and moment >= EPOCH else None
    except (ValueError, OverflowError):
        return None


def _field(view: Contract, name: str) -> Field:
    return next(field for field in view.fields if field.name == name)


def _shown(found: object) -> str:
    return repr(found)[:INPUT_SHOWN_CHARACTERS_MAX]


def _refuse(what: str) -> NoReturn:
    raise Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Invalid filter",
        f"{what}. GET /v1/views lists the filters of every view.",
    )
