"""The filters of any view's rows, derived from its contract."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import NoReturn
from urllib.parse import urlencode

from contracts import Contract, Field
from contracts.times import EPOCH, to_epoch_ms
from services.api.http.problems import INPUT_SHOWN_CHARACTERS_MAX
from services.api.problem import Invalid
from services.api.store.tables import WHOLE_MAX, WHOLE_MIN, Condition

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
def list_comparable(view: Contract) -> Mapping[str, Field]:
    """The fields that filter rows: those of the key, and every text."""
    return {
        field.name: field
        for field in view.fields
        if field.name in view.key or field.type == "string"
    }


def list_filters(view: Contract) -> list[str]:
    """Every filter of the view, by the name of its parameter."""
    return [*list_comparable(view), *((FROM, UNTIL) if view.began else ())]


def parse_conditions(view: Contract, asked: Mapping[str, object]) -> tuple[Condition, ...]:
    """The conditions of a query. Raises Problem where the view has no such filter."""
    for name in asked:
        if name not in list_filters(view):
            _refuse(f"{name}: expected one of {', '.join(list_filters(view))} for {view.name}")
    made = [
        Condition(f'"{name}" = ?', (parse_value(name, field, asked[name]),))
        for name, field in list_comparable(view).items()
        if name in asked
    ]
    for name, sign in ((FROM, ">="), (UNTIL, "<")):
        if name in asked:
            moment = parse_value(name, _find_field(view, str(view.began)), asked[name])
            made.append(Condition(f'"{view.began}" {sign} ?', (moment,)))
    return tuple(made)


def render_question(asked: Mapping[str, object], order: str) -> str:
    """The filters and the order, which stay the same from page to page."""
    return urlencode(sorted({**asked, "order": order}.items()))


def parse_key(view: Contract, text: str) -> tuple[str | int, ...]:
    """The values of a key as a table stores them. Raises Problem for a wrong number of parts."""
    parts = text.split("/")
    if len(parts) != len(view.key):
        _refuse(f"key: expected {'/'.join(view.key)}, found {_render(text)}")
    pairs = zip(view.key, parts, strict=True)
    return tuple(parse_value(name, _find_field(view, name), part) for name, part in pairs)


def parse_value(name: str, field: Field, text: object) -> str | int:
    """A parameter's value as a table stores it. Raises Problem for a value of another type."""
    value = _parse(field.type, text) if isinstance(text, str) else None
    if value is None:
        _refuse(f"{name}: expected {EXPECTED[field.type]}, once, found {_render(text)}")
    return value


def _parse(kind: str, text: str) -> str | int | None:
    if kind == "string":
        return text if len(text) <= VALUE_CHARACTERS_MAX else None
    if kind == "boolean":
        return {"true": 1, "false": 0}.get(text)
    if WHOLE.fullmatch(text):
        number = int(text)
        return number if WHOLE_MIN <= number <= WHOLE_MAX else None
    return _parse_moment_ms(text) if kind == "timestamp" else None


def _parse_moment_ms(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        return to_epoch_ms(moment) if moment.tzinfo and moment >= EPOCH else None
    except (ValueError, OverflowError):
        return None


def _find_field(view: Contract, name: str) -> Field:
    return next(field for field in view.fields if field.name == name)


def _render(value: object) -> str:
    return repr(value)[:INPUT_SHOWN_CHARACTERS_MAX]


def _refuse(what: str) -> NoReturn:
    raise Invalid("Invalid filter", f"{what}. GET /v1/views lists the filters of every view.")
