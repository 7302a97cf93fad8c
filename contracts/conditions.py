"""From the standard's options and quality checks to rules."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from open_data_contract_standard.model import DataQuality

from contracts import rules
from contracts.errors import BadContract, Faults, Part
from contracts.fields import Reading, find_type
from contracts.mapping import TYPES
from contracts.rules import KINDS
from contracts.shape import Field, Limit, Rule


def _alike(*names: str) -> Mapping[str, str]:
    return {name: name for name in names}


# By type: the standard's logicalTypeOptions that it may have, and the kind of rule of each.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "string": _alike("minLength", "maxLength", "pattern"),
    "bytes": {"maxLength": "maxBytes"},
    "int": _alike("minimum", "maximum"),
    "long": _alike("minimum", "maximum"),
    "array": _alike("minItems", "maxItems"),
}
ROW_RULES = ("notEqual", "lessThan", "atMost")


def list_rules(
    file: Path,
    readings: Sequence[Reading],
    fields: Sequence[Field],
    checks: Sequence[DataQuality],
    faults: Faults,
) -> tuple[Rule, ...]:
    """The rules of the fields, and those of the record as a whole, as far as they are understood.

    Where one of a field's rules is not, the field is among the faults' missing parts.
    """
    row_rules = [
        faults.attempt(check.name or "", None, _read_row_rule, file, fields, check, number)
        for number, check in enumerate(checks)
        if not _is_about(check, faults.missing)
    ]
    faults.missing.update(
        check.name for check in checks if check.name and _is_about(check, faults.missing)
    )
    every = (
        *(rule for reading in readings for rule in _list_field_rules(reading, faults)),
        *(rule for rule in row_rules if rule is not None),
    )
    counted = Counter(rule.name for rule in every)
    for name in (name for name, times in counted.items() if times > 1):
        fault = BadContract(file, f"rule {name}", "one of this name", "two", "Rename one.")
        faults.add(fault, name)
    return every


def _is_about(check: DataQuality, missing: Collection[Part]) -> bool:
    """Whether the condition is on a field that is not understood."""
    asked = check.implementation if isinstance(check.implementation, dict) else {}
    return any((str(name),) in missing for name in asked.values())


def _list_field_rules(reading: Reading, faults: Faults) -> Iterator[Rule]:
    source, path = reading.property, reading.path
    if source.required:
        yield _create_rule(reading, "required", None)
    if kind := find_type(reading):
        for option, limit in (source.logicalTypeOptions or {}).items():
            with faults.collect(path):
                yield _read_option(reading, kind, option, limit)
        for check in source.quality or ():
            with faults.collect(path):
                yield _create_rule(reading, "validValues", _read_valid_values(reading, kind, check))
    for inner in reading.inner:
        yield from _list_field_rules(inner, faults)


def _read_option(reading: Reading, kind: str, option: str, limit: Any) -> Rule:
    options = OPTIONS.get(kind, {})
    if option not in options:
        listed = ", ".join(options) or "none"
        raise reading.explain(f"logicalTypeOptions of {listed}", option, "Remove or rename it.")
    if option == "pattern":
        if not isinstance(limit, str) or not rules.is_pattern(limit):
            raise reading.explain(
                "a pattern of literals, classes and counts from ^ to $, without /",
                repr(limit),
                "Only these mean the same in Java, Python and RE2.",
            )
    elif type(limit) is not int:
        raise reading.explain(f"an integer as {option}", repr(limit), "Write a whole number.")
    return _create_rule(reading, options[option], limit)


def _read_valid_values(reading: Reading, kind: str, check: DataQuality) -> tuple[str, ...]:
    """`{metric: invalidValues, arguments: {validValues: [...]}, mustBe: 0}` of a string."""
    if check.model_fields_set != {"metric", "arguments", "mustBe"} or kind != "string":
        raise reading.explain(
            "metric, arguments and mustBe, on a string",
            f"{', '.join(sorted(check.model_fields_set))}, on {kind}",
            "Conditions between fields stand under the schema's quality.",
        )
    arguments = check.arguments or {}
    values = arguments.get("validValues")
    if (
        (check.metric, check.mustBe, list(arguments)) != ("invalidValues", 0, ["validValues"])
        or not isinstance(values, list)
        or not values
        or not all(isinstance(value, str) for value in values)
    ):
        written = f"{check.metric} of {arguments}, mustBe {check.mustBe}"
        raise reading.explain(
            "no invalidValues besides validValues: [...]", written, "List strings."
        )
    return tuple(values)


def _create_rule(reading: Reading, kind: str, limit: Limit) -> Rule:
    return Rule(rules.describe_rule(reading.path, kind, limit), kind, reading.path, limit)


def _read_row_rule(file: Path, fields: Sequence[Field], check: DataQuality, number: int) -> Rule:
    """A condition on a whole record: `{field: units, notEqual: 0}`, `{field: a, atMost: b}`."""
    where = f"schema quality {check.name or 'without a name'}"
    explain = partial(BadContract, file, where, location=("schema", 0, "quality", number))
    if not check.name or not check.description:
        raise explain("a name and a description", "none", "Say what it means.")
    if (check.type, check.engine) != ("custom", "predicate"):
        written = f"{check.type}, {check.engine}"
        raise explain("type custom, engine predicate", written, "Write those.")
    asked = check.implementation if isinstance(check.implementation, dict) else {}
    types = {field.name: field.type for field in fields}
    for kind in ROW_RULES:
        if set(asked) == {"field", kind} and _fits(types, asked["field"], kind, asked[kind]):
            return Rule(check.name, kind, (asked["field"],), asked[kind], check.description)
    raise explain(
        f"implementation: a field, and one of {', '.join(ROW_RULES)}",
        check.implementation,
        "notEqual takes a value; the others take a field of the same type.",
    )


def _fits(types: Mapping[str, str], name: Any, kind: str, limit: Any) -> bool:
    """Whether the field can be compared with the limit: another field, or a value of its type."""
    if KINDS[kind].limit_is_field:
        return name in types and types.get(limit) == types[name]
    value = TYPES[types[name]].value if name in types else None
    return value in (str, int) and type(limit) is value
