"""The rules of a contract, held against a value in Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.mapping import TYPES
from contracts.rules import KINDS, Kind
from contracts.shape import Field, Row, Rule

Location = tuple[str | int, ...]
"""Where in a value: ("lines", 0, "units")."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is asked of one field, and of the fields of its items."""

    field: str
    type: type
    required: Rule | None
    conditions: tuple[tuple[Rule, Kind], ...]
    items: tuple["Check", ...]


def checks(
    fields: Sequence[Field], rules: Sequence[Rule], parents: tuple[str, ...] = ()
) -> tuple[Check, ...]:
    return tuple(_check(field, rules, (*parents, field.name)) for field in fields)


def _check(field: Field, rules: Sequence[Rule], path: tuple[str, ...]) -> Check:
    own = [rule for rule in rules if rule.path == path]
    return Check(
        field=field.name,
        type=TYPES[field.type].value,
        required=next((rule for rule in own if rule.kind == "required"), None),
        conditions=tuple((rule, KINDS[rule.kind]) for rule in own if rule.kind != "required"),
        items=checks(field.fields, rules, path),
    )


def broken(
    asked: Sequence[Check], value: Row, at: Location = ()
) -> Iterator[tuple[Location, Rule]]:
    """Every rule that the value breaks, and where.

    What has the wrong type is wrong already, and breaks no rule besides.
    """
    for check in asked:
        found = value.get(check.field)
        if found is None:
            if check.required:
                yield (*at, check.field), check.required
        elif _fits(found, check.type):
            for rule, kind in check.conditions:
                if not _holds(rule, kind, check, found, value):
                    yield (*at, check.field), rule
            if check.items:
                for number, item in enumerate(found):
                    if isinstance(item, Mapping):
                        yield from broken(check.items, item, (*at, check.field, number))


def _holds(rule: Rule, kind: Kind, check: Check, found: Any, value: Row) -> bool:
    if not kind.limit_is_field:
        return kind.holds(found, rule.limit)
    other = value.get(str(rule.limit))
    return other is None or not _fits(other, check.type) or kind.holds(found, other)


def _fits(found: object, expected: type) -> bool:
    return isinstance(found, expected) and (expected is bool or not isinstance(found, bool))
