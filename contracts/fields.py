"""From the standard's properties, options and quality checks to fields and rules."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from open_data_contract_standard.model import DataQuality, SchemaProperty

from contracts import rules
from contracts.errors import BadContract, Location
from contracts.examples import parse_typed
from contracts.mapping import TYPES
from contracts.odcs import CustomProperties
from contracts.rules import KINDS
from contracts.shape import Field, Limit, Personal, Rule

NAME = re.compile(r"[a-z][a-z0-9_]*")

PERSONAL = "personal"
"""The one classification that these contracts use."""
PERSONAL_PROPERTIES = ("purpose", "retention")


@dataclass(frozen=True, slots=True)
class Reading:
    """One property of one file, on the way to a field."""

    path: tuple[str, ...]
    property: SchemaProperty
    location: Location
    inner: "tuple[Reading, ...]" = ()
    """The fields within this one."""

    def explain(self, expected: str, value: object, advice: str) -> BadContract:
        where = f"field {'[].'.join(self.path)}"
        return BadContract(where, expected, value, advice, self.location)


def read_fields(readings: tuple[Reading, ...]) -> tuple[Field, ...]:
    """The fields of one record. Raises BadContract."""
    fields = tuple(map(read_field, readings))
    measures = {field.name for field in fields if field.type == "string" and not field.required}
    for reading, field in zip(readings, fields, strict=True):
        if field.per is not None and field.per not in measures:
            listed = ", ".join(sorted(measures)) or "none that is there"
            expected = f"per: a string beside it that may be absent, of {listed}"
            raise reading.explain(expected, field.per, "Name such a field.")
    return fields


def list_readings(
    listed: list[SchemaProperty] | None, location: Location, path: tuple[str, ...] = ()
) -> tuple[Reading, ...]:
    """The properties, each with its path. Raises BadContract."""
    readings: dict[str, Reading] = {}
    for number, source in enumerate(listed or ()):
        name, at = str(source.name), (*location, "properties", number)
        items = source.items.properties if source.items else None
        reading = Reading((*path, name), source, at)
        if not NAME.fullmatch(name):
            raise reading.explain("a name like unit_price_cents", repr(name), "Rename it.")
        if name in readings:
            raise reading.explain("one field of this name", "two", "Remove or rename one of them.")
        inner = list_readings(items, (*at, "items"), reading.path)
        readings[name] = replace(reading, inner=inner)
    return tuple(readings.values())


def read_field(reading: Reading) -> Field:
    source, kind = reading.property, read_type(reading)
    name = reading.path[-1]
    custom = CustomProperties(f"field {name}", source.customProperties, reading.location)
    unit: str | None = custom.take_optional("unit", str)
    per: str | None = custom.take_optional("per", str)
    personal = _read_personal(reading, custom)
    custom.refuse_others("unit", "per", *PERSONAL_PROPERTIES)
    if source.required is None:
        raise reading.explain("required: true or false", "neither", "Say which.")
    made = Field(
        name=name,
        type=kind,
        required=source.required,
        description=_check_description(reading, source.description),
        unit=unit,
        per=per,
        examples=tuple(_check_example(reading, kind, one) for one in source.examples or ()),
        personal=personal,
    )
    if kind == "array":
        return _complete_array(reading, made)
    if source.items or source.properties:
        raise reading.explain("neither items nor properties", "some", "Only an array has items.")
    return made


def read_type(reading: Reading) -> str:
    """The field's type, a row of the table. Raises BadContract."""
    source = reading.property
    for kind, one in TYPES.items():
        if (one.logical, one.physical) == (source.logicalType, source.physicalType):
            return kind
    listed = ", ".join("/".join(filter(None, (t.logical, t.physical))) for t in TYPES.values())
    written = "/".join(filter(None, (source.logicalType, source.physicalType)))
    raise reading.explain(f"a type of {listed}", written or "none", "Choose one of them.")


def _read_personal(reading: Reading, custom: CustomProperties) -> Personal | None:
    """Purpose and retention of a field that names a person; None for other fields."""
    classification = reading.property.classification
    if classification is None:
        return None
    if classification != PERSONAL:
        advice = "Leave it out where the field names nobody."
        raise reading.explain(f"classification: {PERSONAL}", classification, advice)
    if reading.property.logicalType == "array":
        raise reading.explain(
            "no classification of an array", PERSONAL, "Classify its items' fields."
        )
    purpose: str | None = custom.take_optional("purpose", str)
    retention: str | None = custom.take_optional("retention", str)
    return Personal((purpose or "").strip() or None, (retention or "").strip() or None)


def _check_description(reading: Reading, description: str | None) -> str:
    if not (description or "").strip():
        raise reading.explain("a description", "none", "Say what the field means.")
    return str(description).strip()


def _check_example(reading: Reading, kind: str, example: Any) -> Any:
    try:
        return parse_typed(kind, example)
    except ValueError as error:
        raise reading.explain(f"examples of type {kind}", error, "Mend the example.") from error


def _complete_array(reading: Reading, made: Field) -> Field:
    item = reading.property.items
    if item is None or item.logicalType != "object" or not item.properties:
        written = "none" if item is None else item.logicalType
        raise reading.explain("items: objects with properties", written, "An array holds objects.")
    if not NAME.fullmatch(item.name or ""):
        raise reading.explain(
            "items with a name", repr(item.name), "Name one element, as in: line."
        )
    return replace(
        made,
        item=item.name,
        item_description=_check_description(reading, item.description),
        fields=read_fields(reading.inner),
    )


def _alike(*names: str) -> Mapping[str, str]:
    return {name: name for name in names}


# By type: the standard's logicalTypeOptions that it may have, and the kind of rule of each.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "string": _alike("minLength", "maxLength", "pattern"),
    "bytes": {"maxLength": "maxBytes"},
    "int": _alike("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "long": _alike("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "array": _alike("minItems", "maxItems"),
}
ROW_RULES = ("notEqual", "lessThan", "atMost")


def list_rules(
    readings: Sequence[Reading], fields: Sequence[Field], checks: Sequence[DataQuality]
) -> tuple[Rule, ...]:
    """The rules of the fields, and those of the record as a whole. Raises BadContract."""
    every = (
        *(rule for one in readings for rule in _list_field_rules(one)),
        *(_read_row_rule(fields, check, number) for number, check in enumerate(checks)),
    )
    for name, times in Counter(rule.name for rule in every).items():
        if times > 1:
            raise BadContract(f"rule {name}", "one of this name", "two", "Rename one.")
    return every


def _list_field_rules(reading: Reading) -> Iterator[Rule]:
    """The rules declared with a field, and those of the fields within it."""
    source, kind = reading.property, read_type(reading)
    if source.required:
        yield _create_rule(reading, "required", None)
    for option, limit in (source.logicalTypeOptions or {}).items():
        yield _read_option(reading, kind, option, limit)
    for check in source.quality or ():
        yield _create_rule(reading, "validValues", _read_valid_values(reading, kind, check))
    for inner in reading.inner:
        yield from _list_field_rules(inner)


def _read_option(reading: Reading, kind: str, option: str, limit: Any) -> Rule:
    known = OPTIONS.get(kind, {})
    if option not in known:
        listed = ", ".join(known) or "none"
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
    return _create_rule(reading, known[option], limit)


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


def _read_row_rule(fields: Sequence[Field], check: DataQuality, number: int) -> Rule:
    """A condition on a whole record: `{field: units, notEqual: 0}`, `{field: a, atMost: b}`."""
    where = f"schema quality {check.name or 'without a name'}"
    at = ("schema", 0, "quality", number)
    if not check.name or not check.description:
        raise BadContract(where, "a name and a description", "none", "Say what it means.", at)
    if (check.type, check.engine) != ("custom", "predicate"):
        written = f"{check.type}, {check.engine}"
        raise BadContract(where, "type custom, engine predicate", written, "Write those.", at)
    asked = check.implementation if isinstance(check.implementation, dict) else {}
    types = {field.name: field.type for field in fields}
    for kind in ROW_RULES:
        if set(asked) == {"field", kind} and _fits(types, asked["field"], kind, asked[kind]):
            return Rule(check.name, kind, (asked["field"],), asked[kind], check.description)
    raise BadContract(
        where,
        f"implementation: a field, and one of {', '.join(ROW_RULES)}",
        check.implementation,
        "notEqual takes a value; the others take a field of the same type.",
        at,
    )


def _fits(types: Mapping[str, str], name: Any, kind: str, limit: Any) -> bool:
    """Whether the field can be compared with the limit: another field, or a value of its type."""
    if KINDS[kind].limit_is_field:
        return name in types and types.get(limit) == types[name]
    value = TYPES[types[name]].value if name in types else None
    return value in (str, int) and type(limit) is value
