"""The examples of a contract: valid records, and records with one change that breaks one rule."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from contracts import odcs
from contracts.projection import Path, list_fields, parse_path, render_path
from contracts.shape import Contract, Field, InvalidExample, Row
from contracts.syntax import STRICT, Fault


class Change(BaseModel):
    """What an invalid example changes of the first valid one, and the rule that it then breaks.

    `{breaks: rule, set: {"lines[].units": 0}}` sets the units of every line;
    `{breaks: rule, repeat: {lines: 201}}` repeats the first item, or character, 201 times.
    """

    model_config = STRICT

    breaks: str
    set: dict[str, Any] = {}
    repeat: dict[str, int] = {}


def read(
    contract: Contract, written: odcs.Examples
) -> tuple[tuple[Row, ...], tuple[InvalidExample, ...], list[Fault]]:
    """The valid and the invalid examples, and the faults of those that are neither."""
    faults: list[Fault] = []
    valid: list[Row] = []
    for number, example in enumerate(written.examples):
        try:
            valid.append(_parse_record(contract.fields, example))
        except ValueError as problem:
            faults.append(_explain("examples", number, problem))
    if not valid:
        return (), (), faults
    invalid = [
        InvalidExample(rule.name, _change(valid[0], rule.path, lambda _: None))
        for rule in contract.rules
        if rule.kind == "required"
    ]
    for number, change in enumerate(written.invalidExamples):
        try:
            invalid.append(_parse_invalid(contract, valid[0], change))
        except ValueError as problem:
            faults.append(_explain("invalidExamples", number, problem))
    return tuple(valid), tuple(invalid), faults


def _explain(kind: str, number: int, problem: ValueError) -> Fault:
    location = ("schema", 0, "customProperties", kind, number)
    return location, "a record of this contract", problem, "Mend the example."


def _parse_record(fields: Sequence[Field], written: Any, parents: Path = ()) -> dict[str, Any]:
    """A whole record from YAML, with timestamps as datetimes. Raises ValueError."""
    if not isinstance(written, dict):
        raise ValueError(f"{written!r}, which is no record")
    names = [field.name for field in fields]
    if others := [render_path((*parents, str(name))) for name in written if name not in names]:
        raise ValueError(f"fields that the contract does not have: {', '.join(others)}")
    return {
        field.name: _parse_value(field, (*parents, field.name), written.get(field.name))
        for field in fields
    }


def _parse_value(field: Field, path: Path, written: Any) -> Any:
    if written is None:
        return None
    if field.type == "array" and isinstance(written, list):
        return [_parse_record(field.fields, item, path) for item in written]
    try:
        return odcs.parse_typed(field.type, written)
    except ValueError as error:
        place = render_path(path)
        raise ValueError(f"{error} as {place}, which is of type {field.type}") from error


def _parse_invalid(contract: Contract, valid: Row, written: Any) -> InvalidExample:
    """The valid record, changed so that it breaks a rule. Raises ValueError."""
    try:
        change, value = Change.model_validate(written), valid
    except ValidationError:
        raise ValueError(f"{written!r}, which is not of breaks, set and repeat") from None
    if change.breaks not in {rule.name for rule in contract.rules}:
        raise ValueError(f"{change.breaks!r}, which is no rule of this contract")
    fields = dict(list_fields(contract.fields))
    for where in (*change.set, *change.repeat):
        if parse_path(where) not in fields:
            raise ValueError(f"{where!r}, which is no field of this contract")
    for where, new in change.set.items():
        path = parse_path(where)
        parsed = _parse_value(fields[path], path, new)
        value = _change(value, path, partial(_set, parsed))
    for where, times in change.repeat.items():
        value = _change(value, parse_path(where), partial(_repeat, times))
    return InvalidExample(change.breaks, value)


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
