"""From the standard's properties to fields."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from open_data_contract_standard.model import SchemaProperty

from contracts.errors import BadContract, Faults, Location
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

    file: Path
    path: tuple[str, ...]
    property: SchemaProperty
    location: Location
    inner: "tuple[Reading, ...]" = ()
    """The fields within this one."""

    def explain(self, expected: str, value: object, advice: str) -> BadContract:
        where = f"field {'[].'.join(self.path)}"
        return BadContract(self.file, where, expected, value, advice, self.location)


def read_fields(readings: tuple[Reading, ...], faults: Faults) -> tuple[Field, ...]:
    """The fields of one record; one that is not understood is among the faults' missing parts."""
    fields = tuple(read_field(reading, faults) for reading in readings)
    measures = {field.name for field in fields if field.type == "string" and not field.required}
    for reading, field in zip(readings, fields, strict=True):
        with faults.collect(reading.path):
            if field.per is not None and field.per not in measures:
                listed = ", ".join(sorted(measures)) or "none that is there"
                raise reading.explain(
                    f"per: a string beside it that may be absent, of {listed}",
                    field.per,
                    "Name such a field.",
                )
    return fields


def list_readings(
    file: Path,
    listed: list[SchemaProperty] | None,
    faults: Faults,
    location: Location,
    path: tuple[str, ...] = (),
) -> tuple[Reading, ...]:
    """The properties, each with its path, but for those with an invalid name."""
    readings: dict[str, Reading] = {}
    for number, source in enumerate(listed or ()):
        name, place = str(source.name), (*location, "properties", number)
        items = source.items.properties if source.items else None
        reading = Reading(file, (*path, name), source, place)
        with faults.collect():
            if not NAME.fullmatch(name):
                raise reading.explain("a name like unit_price_cents", repr(name), "Rename it.")
            if name in readings:
                raise reading.explain(
                    "one field of this name", "two", "Remove or rename one of them."
                )
            inner = list_readings(file, items, faults, (*place, "items"), reading.path)
            readings[name] = replace(reading, inner=inner)
    return tuple(readings.values())


def read_field(reading: Reading, faults: Faults) -> Field:
    """The field. What of it is not understood has a value that means nothing."""
    source, path = reading.property, reading.path
    custom = CustomProperties(
        reading.file, f"field {path[-1]}", source.customProperties, faults, reading.location
    )
    unit: str | None = faults.attempt(path, None, custom.take_optional, "unit", str)
    per: str | None = faults.attempt(path, None, custom.take_optional, "per", str)
    personal = faults.attempt(path, None, _read_personal, reading, custom)
    with faults.collect():
        custom.refuse_others("unit", "per", *PERSONAL_PROPERTIES)
    kind = faults.attempt(path, "", read_type, reading)
    made = Field(
        name=path[-1],
        type=kind or "string",
        required=faults.attempt(path, True, _is_required, reading),
        description=faults.attempt("", "", _check_description, reading, source.description),
        unit=unit,
        per=per,
        examples=tuple(
            faults.attempt("", example, _check_example, reading, kind, example)
            for example in (source.examples or () if kind else ())
        ),
        personal=personal,
    )
    if kind == "array":
        return faults.attempt(path, made, _complete_array, reading, made, faults)
    with faults.collect(path):
        if kind and (source.items or source.properties):
            raise reading.explain(
                "neither items nor properties", "some", "Only an array has items."
            )
    return made


def find_type(reading: Reading) -> str | None:
    """The field's type, a row of the table; None where no row is like it."""
    written = reading.property.logicalType, reading.property.physicalType
    return next(
        (kind for kind, row in TYPES.items() if (row.logical, row.physical) == written), None
    )


def read_type(reading: Reading) -> str:
    """The field's type. Raises BadContract."""
    if kind := find_type(reading):
        return kind
    source = reading.property
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


def _is_required(reading: Reading) -> bool:
    if reading.property.required is None:
        raise reading.explain("required: true or false", "neither", "Say which.")
    return reading.property.required


def _check_description(reading: Reading, description: str | None) -> str:
    if not (description or "").strip():
        raise reading.explain("a description", "none", "Say what the field means.")
    return str(description).strip()


def _check_example(reading: Reading, kind: str, example: Any) -> Any:
    try:
        return parse_typed(kind, example)
    except ValueError as error:
        raise reading.explain(f"examples of type {kind}", error, "Mend the example.") from error


def _complete_array(reading: Reading, made: Field, faults: Faults) -> Field:
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
        item_description=faults.attempt("", "", _check_description, reading, item.description),
        fields=read_fields(reading.inner, faults),
    )
