"""The rules of a contract, as checks of a value in Python.

`find_broken` takes any value and names every broken rule. `order_checks` returns plain functions of
decoded values, to find the first fault fast.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from contracts.mapping import TYPES
from contracts.rules import KINDS, Kind
from contracts.shape import Contract, Field, Row, Rule

Location = tuple[str | int, ...]
"""A place in a value: ("lines", 0, "units")."""


@dataclass(frozen=True, slots=True)
class Check:
    """The rules of one field, and of the fields of its items."""

    field: str
    type: type
    required: Rule | None
    conditions: tuple[tuple[Rule, Kind], ...]
    items: tuple["Check", ...]


def compile_checks(
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
        items=compile_checks(field.fields, rules, path),
    )


def find_broken(
    asked: Sequence[Check], value: Row, location: Location = ()
) -> Iterator[tuple[Location, Rule, Any]]:
    """Every rule that the value breaks, where, and the value found there.

    A value of the wrong type is another fault: it breaks no rule.
    """
    for check in asked:
        own = value.get(check.field)
        if own is None:
            if check.required:
                yield (*location, check.field), check.required, None
        elif _fits(own, check.type):
            for rule, kind in check.conditions:
                if not _holds(rule, kind, check, own, value):
                    yield (*location, check.field), rule, own
            if check.items:
                for number, item in enumerate(own):
                    if isinstance(item, Mapping):
                        yield from find_broken(check.items, item, (*location, check.field, number))


def _holds(rule: Rule, kind: Kind, check: Check, own: Any, value: Row) -> bool:
    if not kind.limit_is_field:
        return kind.holds(own, rule.limit)
    other = value.get(str(rule.limit))
    return other is None or not _fits(other, check.type) or kind.holds(own, other)


def _fits(value: object, expected: type) -> bool:
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class Asked:
    """One rule as a plain function of a decoded value: several times as fast as `find_broken`."""

    name: str
    values: Callable[[Row], list[Any]]
    """The values at the rule's path; absent ones are left out."""
    holds: Callable[[Row], bool]


@cache
def order_checks(contract: Contract) -> tuple[Asked, ...]:
    """The rules in the contract's order, for values as the codec decodes them.

    `required` of an array's item is not among them: Avro cannot leave the field out.
    """
    return tuple(
        Asked(rule.name, compile_path(rule.path), _compile_rule(rule))
        for rule in contract.rules
        if rule.kind != "required" or len(rule.path) == 1
    )


def compile_path(path: Sequence[str]) -> Callable[[Row], list[Any]]:
    head, *rest = path
    if not rest:
        return lambda row: [] if row[head] is None else [row[head]]
    inner = compile_path(rest)
    return lambda row: [value for item in row[head] or () for value in inner(item)]


def _compile_rule(rule: Rule) -> Callable[[Row], bool]:
    """The rule as a function of a whole value. An absent value breaks only `required`."""
    head, *rest = rule.path
    holds, limit = KINDS[rule.kind].holds, rule.limit
    if rule.kind == "required":
        return lambda row: row[head] is not None
    if rest:
        list_values = compile_path(rule.path)
        test = _compile_test(rule)
        return lambda row: all(map(test, list_values(row)))
    if KINDS[rule.kind].limit_is_field:
        other = str(limit)
        return lambda row: row[head] is None or row[other] is None or holds(row[head], row[other])
    test = _compile_test(rule)
    return lambda row: (value := row[head]) is None or test(value)


def _compile_test(rule: Rule) -> Callable[[Any], bool]:
    """The rule as a function of one value."""
    holds, limit = KINDS[rule.kind].holds, rule.limit
    if rule.kind == "pattern":
        matches = re.compile(str(limit)).fullmatch
        return lambda value: matches(value) is not None
    return lambda value: holds(value, limit)
