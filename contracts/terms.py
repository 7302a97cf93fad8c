"""What the parts of a contract's file must have to do with each other, and with its path."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from contracts.mapping import TYPES
from contracts.odcs import Document
from contracts.projection import list_fields
from contracts.rules import KINDS
from contracts.shape import Contract, Field, Rule
from contracts.syntax import Fault, Location

KEY_TYPES = ("string", "int", "long", "timestamp")
SCHEMA: Location = ("schema", 0)
MEASURED_ON = {
    "horizon": "It is measured on eventTime.",
    "skew": "It is measured on eventTime.",
    "retention": "It is measured on the time in the key.",
    "grace": "It is measured on the time when what the key's time begins is over.",
}


def find_faults(contract: Contract, document: Document) -> Iterator[Fault]:
    """The contradictions of a file; the contract is built from it."""
    yield from _check_names(contract, document)
    yield from _check_fields(contract.fields, (*SCHEMA, "properties"))
    yield from _check_items(contract.fields)
    yield from _check_rules(contract)
    yield from _check_key(contract)
    yield from _check_spans(contract, document)
    if contract.readers and contract.visibility == "public":
        yield ("readers",), "none", contract.readers, "Anybody may read what is public."


def _check_names(contract: Contract, document: Document) -> Iterator[Fault]:
    [schema], version = document.schemas, document.version
    numbered = re.fullmatch(rf"{contract.major}\.\d+\.\d+", version)
    for location, expected, written in (
        (("id",), contract.name, document.id),
        (("name",), contract.entity, document.name),
        (("domain",), contract.domain, document.domain),
        (("version",), version if numbered else f"{contract.major}.x.y", version),
        ((*SCHEMA, "name"), contract.entity, schema.name),
        ((*SCHEMA, "physicalType"), "topic", schema.physicalType),
        (("status",), "deprecated" if contract.sunset else "active", document.status),
    ):
        if written != expected:
            advice = "Names follow from the path and the visibility: mend this, or move the file."
            yield location, expected, written, advice


def _check_fields(fields: Sequence[Field], location: Location) -> Iterator[Fault]:
    measures = [field.name for field in fields if field.type == "string" and not field.required]
    for field in fields:
        place = (*location, field.name)
        if field.per is not None and field.per not in measures:
            listed = ", ".join(measures) or "none that is there"
            expected = f"per: a string beside it that may be absent, of {listed}"
            yield place, expected, field.per, "Name such a field."
        yield from _check_fields(field.fields, (*place, "items", "properties"))


def _check_items(fields: Sequence[Field]) -> Iterator[Fault]:
    """An array's item names a type in Avro and a variable in SQL."""
    every = [field for _, field in list_fields(fields)]
    named = Counter([*{field.name for field in every}, *(field.item for field in every)])
    for field in every:
        if field.item and named[field.item] > 1:
            place = (*SCHEMA, "properties", field.name)
            yield place, "an item's name of its own", field.item, "Rename it."


def _check_rules(contract: Contract) -> Iterator[Fault]:
    of_type = {field.name: field.type for field in contract.fields}
    for name, times in Counter(rule.name for rule in contract.rules).items():
        if times > 1:
            yield (*SCHEMA, "quality", name), "one rule of this name", times, "Rename one."
    for rule in contract.rules:
        if rule.description is not None and not _is_comparable(of_type, rule):
            advice = "notEqual takes a value; the others take a field of the same type."
            expected, found = "what the field can be compared with", f"{rule.path[0]}, {rule.limit}"
            yield (*SCHEMA, "quality", rule.name), expected, found, advice


def _is_comparable(of_type: Mapping[str, str], rule: Rule) -> bool:
    """Whether the field can be compared with the limit: another field, or a value of its type."""
    kind = of_type.get(rule.path[0])
    if KINDS[rule.kind].limit_is_field:
        return kind is not None and of_type.get(str(rule.limit)) == kind
    return kind is not None and type(rule.limit) is TYPES[kind].value


def _check_key(contract: Contract) -> Iterator[Fault]:
    by_name = {field.name: field for field in contract.fields}
    for name in contract.key:
        field = by_name.get(name)
        if field is None:
            yield ("key",), f"fields of {', '.join(by_name)}", name, "Name fields."
        elif not field.required or field.type not in KEY_TYPES:
            found = f"{name}, {'required' if field.required else 'optional'} {field.type}"
            yield ("key",), f"required fields of {', '.join(KEY_TYPES)}", found, "Choose others."
        elif (
            len(contract.key) > 1 and field.type == "string" and not _excludes_slash(contract, name)
        ):
            advice = "A slash joins a key. Keep it out: ^[^/]{1,64}$ will do."
            yield (*SCHEMA, "properties", name), "a pattern, as part of the key", "none", advice
    times = [
        field.name for field in contract.fields if field.type == "timestamp" and field.required
    ]
    if contract.event_time is not None and contract.event_time not in times:
        expected = f"one of {', '.join(times) or 'a required timestamp'}"
        yield ("eventTime",), expected, contract.event_time, "Name such a field."


def _excludes_slash(contract: Contract, name: str) -> bool:
    return any(
        rule.kind == "pattern"  # none of them admits one: see contracts/rules.py
        or (isinstance(rule.limit, tuple) and "/" not in "".join(rule.limit))
        for rule in contract.rules
        if rule.path == (name,)
    )


def _check_spans(contract: Contract, document: Document) -> Iterator[Fault]:
    ends = [
        field.name
        for field in contract.fields
        if field.type == "timestamp" and field.required and field.name not in contract.key
    ]
    measured: Mapping[str, Sequence[str | None]] = {
        "horizon": [contract.event_time],
        "skew": [contract.event_time],
        "retention": [contract.began],
        "grace": ends if contract.began else [],
    }
    for name, promise in document.slaProperties.items():
        elements = [f"{contract.entity}.{field}" for field in measured[name] if field]
        if promise.element not in elements:
            expected = f"element {' or '.join(elements) or 'none: there is no such time'}"
            yield ("slaProperties", name), expected, promise.element, MEASURED_ON[name]
