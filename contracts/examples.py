"""The examples of a contract: valid records, and records with one change that breaks one rule."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as ModelField

from contracts.mapping import TYPES
from contracts.shape import Field, InvalidExample, Row, Rule


def parse_typed(kind: str, written: Any) -> Any:
    """A value of this type, from YAML. Raises ValueError."""
    if kind == "timestamp" and isinstance(written, str):
        written = datetime.fromisoformat(written)
        if written.tzinfo is None:
            raise ValueError(f"{written} without a zone")
    expected = TYPES[kind].value
    if not isinstance(written, expected) or isinstance(written, bool) != (expected is bool):
        raise ValueError(f"{written!r}")
    return written


def parse_record(fields: Sequence[Field], written: Any) -> dict[str, Any]:
    """A whole record from YAML, with timestamps as datetimes. Raises ValueError."""
    if not isinstance(written, dict):
        raise ValueError(f"{written!r}, which is no record")
    if others := set(written) - {field.name for field in fields}:
        raise ValueError(f"fields that the contract does not have: {', '.join(sorted(others))}")
    return {field.name: _parse_value(field, written.get(field.name)) for field in fields}


def _parse_value(field: Field, written: Any) -> Any:
    if written is None:
        return None
    if field.type == "array" and isinstance(written, list):
        return [parse_record(field.fields, item) for item in written]
    return parse_typed(field.type, written)


def list_absent(rules: Sequence[Rule], valid: Row) -> tuple[InvalidExample, ...]:
    """For every `required` rule: the valid record without that field."""
    return tuple(
        InvalidExample(rule.name, _change(valid, rule.path, partial(_set, None)))
        for rule in rules
        if rule.kind == "required"
    )


class Change(BaseModel):
    """How the valid record is changed so that it breaks a rule.

    `{breaks: rule, set: {"lines[].units": 0}}` sets the units of every line;
    `{breaks: rule, repeat: {lines: 201}}` repeats the first item, or character, 201 times.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    breaks: str
    sets: dict[str, Any] = ModelField(default={}, alias="set")
    repeats: dict[str, int] = ModelField(default={}, alias="repeat")


def parse_invalid(
    fields: Sequence[Field], rules: Sequence[Rule], valid: Row, written: Any
) -> InvalidExample:
    """The valid record with this change. Raises ValueError."""
    change = Change.model_validate(written)
    if change.breaks not in {rule.name for rule in rules}:
        raise ValueError(f"{change.breaks!r}, which is no rule of this contract")
    value = valid
    for where, new in change.sets.items():
        path = where.split("[].")
        value = _change(value, path, partial(_set, _parse_value(_find_field(fields, path), new)))
    for where, times in change.repeats.items():
        value = _change(value, where.split("[]."), partial(_repeat, times))
    return InvalidExample(change.breaks, value)


def _set(new: Any, _: Any) -> Any:
    return new


def _repeat(times: int, old: Any) -> Any:
    return old and old[:1] * times


def _find_field(fields: Sequence[Field], path: Sequence[str]) -> Field:
    head, *rest = path
    for field in fields:
        if field.name == head:
            return _find_field(field.fields, rest) if rest else field
    raise ValueError(f"{head!r}, which is no field of this contract")


def _change(value: Row, path: Sequence[str], change: Callable[[Any], Any]) -> dict[str, Any]:
    """A copy with the field at the path changed, in every item of the arrays on the path."""
    head, *rest = path
    if rest:
        return {**value, head: [_change(item, rest, change) for item in value[head]]}
    return {**value, head: change(value[head])}
