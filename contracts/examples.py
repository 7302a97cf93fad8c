"""The examples of a contract: valid records, and records with one change that breaks one rule."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from contracts.mapping import TYPES
from contracts.projection import Path, list_all, parse_path, render_path
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


def list_absent(rules: Sequence[Rule], valid: Row) -> tuple[InvalidExample, ...]:
    """For every `required` rule: the valid record without that field."""
    return tuple(
        InvalidExample(rule.name, _change(valid, rule.path, partial(_set, None)))
        for rule in rules
        if rule.kind == "required"
    )


CHANGE_KEYS = {"breaks", "set", "repeat"}


def parse_record(fields: Sequence[Field], written: Any) -> dict[str, Any]:
    """A whole record from YAML, with timestamps as datetimes. Raises ValueError."""
    return _parse_record(fields, (), written)


def parse_invalid(
    fields: Sequence[Field], rules: Sequence[Rule], valid: Row, written: Any
) -> InvalidExample:
    """The valid record, changed so that it breaks a rule. Raises ValueError.

    `{breaks: rule, set: {"lines[].units": 0}}` sets the units of every line;
    `{breaks: rule, repeat: {lines: 201}}` repeats the first item, or character, 201 times.
    """
    if not _is_change(written):
        raise ValueError(f"{written!r}, which is not of breaks, set and repeat")
    breaks, value = written["breaks"], valid
    if breaks not in {rule.name for rule in rules}:
        raise ValueError(f"{breaks!r}, which is no rule of this contract")
    for where, new in written.get("set", {}).items():
        path = parse_path(where)
        parsed = _parse_value(_find_field(fields, where), path, new)
        value = _change(value, path, partial(_set, parsed))
    for where, times in written.get("repeat", {}).items():
        _find_field(fields, where)
        value = _change(value, parse_path(where), partial(_repeat, times))
    return InvalidExample(breaks, value)


def _find_field(fields: Sequence[Field], where: str) -> Field:
    for path, field in list_all(fields):
        if render_path(path) == where:
            return field
    raise ValueError(f"{where!r}, which is no field of this contract")


def _parse_record(fields: Sequence[Field], parents: Path, written: Any) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise ValueError(f"{written!r}, which is no record")
    for name in written.keys() - {one.name for one in fields}:
        place = render_path((*parents, str(name)))
        raise ValueError(f"fields that the contract does not have: {place}")
    return {
        one.name: _parse_value(one, (*parents, one.name), written.get(one.name)) for one in fields
    }


def _parse_value(field: Field, path: Path, written: Any) -> Any:
    if written is None:
        return None
    if field.type == "array" and isinstance(written, list):
        return [_parse_record(field.fields, path, item) for item in written]
    try:
        return parse_typed(field.type, written)
    except ValueError as error:
        raise ValueError(
            f"{error} as {render_path(path)}, which is of type {field.type}"
        ) from error


def _is_change(written: Any) -> bool:
    return (
        isinstance(written, dict)
        and written.keys() <= CHANGE_KEYS
        and isinstance(written.get("breaks"), str)
        and all(
            isinstance(part, dict) and all(isinstance(where, str) for where in part)
            for part in (written.get("set", {}), written.get("repeat", {}))
        )
        and all(type(times) is int for times in written.get("repeat", {}).values())
    )


def _set(new: Any, _: Any) -> Any:
    return new


def _repeat(times: int, old: Any) -> Any:
    return old[:1] * times if isinstance(old, str | bytes | list) else old


def _change(value: Row, path: Sequence[str], change: Callable[[Any], Any]) -> dict[str, Any]:
    """A copy with the field at the path changed, in every item of the arrays on the path."""
    head, *rest = path
    if rest:
        return {**value, head: [_change(item, rest, change) for item in value[head] or ()]}
    return {**value, head: change(value[head])}
