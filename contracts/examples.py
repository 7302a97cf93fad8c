"""The examples of a contract: valid records, and records with one change that breaks one rule."""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from contracts.errors import Location, Part
from contracts.mapping import TYPES
from contracts.projection import Path, list_fields, parse_path, render_path
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


@dataclasses.dataclass(frozen=True, slots=True)
class Examples:
    """Reads the examples of one contract, and notes what is wrong with them."""

    fields: Sequence[Field]
    rules: Sequence[Rule]
    missing: Collection[Part]
    """Of fields among these nothing is known."""
    problems: dict[str, list[Location]] = dataclasses.field(default_factory=dict)
    """Each problem, and the places of the examples that have it."""

    def note(self, example: Location, problem: str) -> None:
        places = self.problems.setdefault(problem, [])
        if example not in places:
            places.append(example)

    def parse_record(self, written: Any, example: Location) -> dict[str, Any]:
        """A whole record from YAML, with timestamps as datetimes."""
        return self._parse_record(self.fields, (), written, example)

    def _parse_record(
        self, fields: Sequence[Field], parents: Path, written: Any, example: Location
    ) -> dict[str, Any]:
        if not isinstance(written, dict):
            self.note(example, f"{written!r}, which is no record")
            return dict.fromkeys((field.name for field in fields), None)
        names = [field.name for field in fields]
        for name in (name for name in written if name not in names):
            place = render_path((*parents, str(name)))
            self.note(example, f"fields that the contract does not have: {place}")
        return {
            field.name: self._parse_value(
                field, (*parents, field.name), written.get(field.name), example
            )
            for field in fields
        }

    def _parse_value(self, field: Field, path: Path, written: Any, example: Location) -> Any:
        if written is None or path in self.missing:
            return None
        if field.type == "array" and isinstance(written, list):
            return [self._parse_record(field.fields, path, item, example) for item in written]
        try:
            return parse_typed(field.type, written)
        except ValueError as error:
            self.note(example, f"{error} as {render_path(path)}, which is of type {field.type}")
            return None

    def parse_invalid(self, valid: Row, written: Any, example: Location) -> InvalidExample | None:
        """The valid record, changed so that it breaks a rule.

        `{breaks: rule, set: {"lines[].units": 0}}` sets the units of every line;
        `{breaks: rule, repeat: {lines: 201}}` repeats the first item, or character, 201 times.
        """
        if not _is_change(written):
            self.note(example, f"{written!r}, which is not of breaks, set and repeat")
            return None
        breaks, value = written["breaks"], valid
        if breaks not in {rule.name for rule in self.rules} and not self._is_missing(breaks):
            self.note(example, f"{breaks!r}, which is no rule of this contract")
        for where, new in written.get("set", {}).items():
            if of := self._find_field(where, example):
                path = parse_path(where)
                parsed = self._parse_value(of, path, new, example)
                value = _change(value, path, partial(_set, parsed))
        for where, times in written.get("repeat", {}).items():
            if self._find_field(where, example):
                value = _change(value, parse_path(where), partial(_repeat, times))
        return InvalidExample(breaks, value)

    def _is_missing(self, rule: str) -> bool:
        return rule in self.missing or any(
            isinstance(part, tuple) and rule.startswith(f"{render_path(part)} ")
            for part in self.missing
        )

    def _find_field(self, where: str, example: Location) -> Field | None:
        found = dict(list_fields(self.fields)).get(parse_path(where))
        if found is None:
            self.note(example, f"{where!r}, which is no field of this contract")
        return found


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
