"""From the standard's properties to fields."""

import re
from dataclasses import dataclass, replace
from typing import Any

from open_data_contract_standard.model import SchemaProperty

from contracts.errors import BadContract, Location
from contracts.examples import parse_typed
from contracts.mapping import TYPES
from contracts.odcs import CustomProperties
from contracts.shape import Field, Personal

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
