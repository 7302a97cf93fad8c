"""The conditions of a filter: a field of the view, a sign, and a value."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contracts import Contract
from contracts.times import to_epoch_ms

CONDITIONS_MAX = 8
CONDITION_CHARACTERS_MAX = 400
SHAPE = re.compile(r"([a-z][a-z0-9_]*)(<=|>=|!=|=|<|>)(.*)", re.DOTALL)
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERED = ("int", "long", "timestamp")
"""The types that all signs compare; texts and booleans are equal or not."""
EXPECTED = {
    "string": "a text",
    "int": "a whole number",
    "long": "a whole number",
    "boolean": "true or false",
    "timestamp": "a time with its zone, as 2026-03-02T10:00:00Z",
}


class BadFilter(ValueError):
    """The filter is not one of the view."""


@dataclass(frozen=True)
class Condition:
    """Compares one column of a stored row; an absent value fulfils no condition."""

    column: int
    compare: Callable[[Any, Any], bool]
    value: object

    def holds(self, row: Sequence[Any]) -> bool:
        return row[self.column] is not None and self.compare(row[self.column], self.value)


def parse_filter(view: Contract, filters: Sequence[str]) -> tuple[Condition, ...]:
    """The conditions, all of which a row fulfils to match. Raises BadFilter."""
    if len(filters) > CONDITIONS_MAX:
        raise BadFilter(f"expected at most {CONDITIONS_MAX} conditions, found {len(filters)}")
    return tuple(_parse_condition(view, one) for one in filters)


def _parse_condition(view: Contract, text: str) -> Condition:
    if len(text) > CONDITION_CHARACTERS_MAX:
        raise BadFilter(
            f"expected at most {CONDITION_CHARACTERS_MAX} characters, found {len(text)}"
        )
    parts = SHAPE.fullmatch(text)
    if parts is None:
        raise BadFilter(f"expected a field, one of {' '.join(SIGNS)} and a value, found {text!r}")
    name, sign, value = parts.groups()
    types = {field.name: field.type for field in view.fields if field.type in EXPECTED}
    if name not in types:
        raise BadFilter(f"expected one of the fields {', '.join(types)}, found {name!r}")
    if sign not in ("=", "!=") and types[name] not in ORDERED:
        raise BadFilter(f"{name}: expected = or !=, since it has no order, found {sign}")
    column = [field.name for field in view.fields].index(name)
    return Condition(column, SIGNS[sign], _parse_value(name, types[name], value))


def _parse_value(name: str, kind: str, text: str) -> object:
    """The value as a table stores it."""
    try:
        if kind == "string":
            return text
        if kind == "boolean":
            return {"true": True, "false": False}[text]
        return _parse_moment_ms(text) if kind == "timestamp" else int(text)
    except (ValueError, KeyError, OverflowError) as error:
        raise BadFilter(f"{name}: expected {EXPECTED[kind]}, found {text!r}") from error


def _parse_moment_ms(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no zone")
    return to_epoch_ms(moment)
