"""The terms of a contract besides fields and rules: key, time, topic, examples."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from open_data_contract_standard.model import SchemaObject, ServiceLevelAgreementProperty

from contracts import examples
from contracts.errors import BadContract, Faults, Location
from contracts.odcs import CustomProperties
from contracts.projection import list_fields
from contracts.shape import Field, InvalidExample, Row, Rule, TopicSettings
from contracts.syntax import suggest

KEY_TYPES = ("string", "int", "long", "timestamp")
EVENT_SPANS = ("horizon", "skew")
SPANS = (*EVENT_SPANS, "retention", "grace")
MEASURED_ON = {
    **dict.fromkeys(EVENT_SPANS, "It is measured on eventTime."),
    "retention": "It is measured on the time in the key.",
    "grace": "It is measured on the time when what the key's time begins is over.",
}
SPAN_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
PARTITIONS_MAX = 1024

# The settings that a contract may give its topic; the others are the broker's defaults.
TOPIC_CONFIG = (
    "cleanup.policy",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "min.compaction.lag.ms",
    "retention.ms",
)


def read_key(
    file: Path,
    fields: Sequence[Field],
    rules: Sequence[Rule],
    custom: CustomProperties,
    faults: Faults,
) -> tuple[str, ...]:
    """The key's fields. A "/" joins several, so none may hold one."""
    names: list[Any] = faults.attempt("key", [], custom.take, "key", list)
    by_name = {field.name: field for field in fields}
    without_slash = {
        rule.path
        for rule in rules
        if rule.kind == "pattern"  # none of them admits one: see contracts/rules.py
        or (isinstance(rule.limit, tuple) and "/" not in "".join(rule.limit))
    }
    for name in names or ([] if "key" in faults.missing else [None]):
        with faults.collect("key"):
            if (name,) in faults.missing:
                continue
            _check_key_field(file, by_name, name)
            if len(names) > 1 and by_name[name].type == "string" and (name,) not in without_slash:
                raise BadContract(
                    file,
                    f"key field {name}",
                    "a pattern",
                    "none",
                    "Keep the / out: ^[^/]{1,64}$ will do.",
                )
    return tuple(names)


def _check_key_field(file: Path, fields: Mapping[str, Field], name: Any) -> None:
    field = fields.get(name) if isinstance(name, str) else None
    if field is None:
        listed = ", ".join(fields)
        raise BadContract(file, "key", f"fields of {listed}", name, "Name fields.")
    if not field.required or field.type not in KEY_TYPES:
        written = f"{name}, {'required' if field.required else 'optional'} {field.type}"
        raise BadContract(
            file, "key", f"required fields of {', '.join(KEY_TYPES)}", written, "Choose others."
        )


def read_event_time(file: Path, fields: Sequence[Field], custom: CustomProperties) -> str | None:
    """The field with the time of the event. Raises BadContract."""
    name: str | None = custom.take_optional("eventTime", str)
    times = [field.name for field in fields if field.type == "timestamp" and field.required]
    if name is not None and name not in times:
        listed = ", ".join(times) or "a required timestamp"
        raise BadContract(file, "eventTime", f"one of {listed}", name, "Name such a field.")
    return name


def find_time_in_key(fields: Sequence[Field], key: Sequence[str]) -> str | None:
    """The first time in the key: when the period of a row begins."""
    times = {field.name for field in fields if field.type == "timestamp"}
    return next((name for name in key if name in times), None)


def find_measurable(
    fields: Sequence[Field], key: Sequence[str], event_time: str | None
) -> dict[str, tuple[str, ...]]:
    """By span: the fields on one of which it may be measured."""
    began = find_time_in_key(fields, key)
    ends = [
        field.name
        for field in fields
        if field.type == "timestamp" and field.required and field.name not in key
    ]
    return {
        **dict.fromkeys(EVENT_SPANS, (event_time,) if event_time else ()),
        "retention": (began,) if began else (),
        "grace": tuple(ends) if began else (),
    }


def read_spans(
    file: Path,
    listed: Iterable[ServiceLevelAgreementProperty],
    entity: str,
    measured: Mapping[str, Sequence[str]],
    faults: Faults,
) -> dict[str, timedelta]:
    """Each span by its name, but for one that lacks its field or its reason."""
    spans: dict[str, timedelta] = {}
    if faults.missing & {"key", "event_time"}:  # nobody knows what they are measured on
        faults.missing.update(SPANS)
        return spans
    for number, promise in enumerate(listed):
        with faults.collect(str(promise.property)):
            location = ("slaProperties", number)
            length = _read_span(file, promise, entity, measured, location)
            if promise.property in spans:
                where, name = f"slaProperties, {promise.property}", str(promise.property)
                raise BadContract(file, where, "it once", name, "Remove one of them.", location)
            spans[str(promise.property)] = length
    return spans


def _read_span(
    file: Path,
    promise: ServiceLevelAgreementProperty,
    entity: str,
    measured: Mapping[str, Sequence[str]],
    location: Location,
) -> timedelta:
    explain = partial(BadContract, file, f"slaProperties, {promise.property}", location=location)
    if promise.property not in SPANS:
        expected, advice = f"{', '.join(SPANS)}, once each", suggest(promise.property, SPANS)
        raise explain(expected, promise.property, advice)
    if type(promise.value) is not int or promise.value < 0 or promise.unit not in SPAN_UNITS:
        expected = f"a whole number of {', '.join(SPAN_UNITS)}"
        raise explain(expected, f"{promise.value} {promise.unit}", "Mend it.")
    elements = [f"{entity}.{name}" for name in measured[promise.property]]
    if promise.element not in elements:
        expected = f"element {' or '.join(elements) or 'none: there is no such time'}"
        raise explain(expected, promise.element, MEASURED_ON[promise.property])
    if not promise.description:
        raise explain("a description", "none", "Say why it is so long.")
    return timedelta(**{SPAN_UNITS[promise.unit]: promise.value})


def read_topic_settings(file: Path, custom: CustomProperties, faults: Faults) -> TopicSettings:
    partitions: int = faults.attempt("settings", 1, custom.take, "partitions", int)
    with faults.collect("settings"):
        if not 1 <= partitions <= PARTITIONS_MAX:
            raise BadContract(file, "partitions", f"1 to {PARTITIONS_MAX}", partitions, "Mend it.")
    config: dict[Any, Any] = faults.attempt("settings", {}, custom.take, "topicConfig", dict)
    for name, value in config.items():
        with faults.collect("settings"):
            if name not in TOPIC_CONFIG:
                listed, advice = ", ".join(TOPIC_CONFIG), suggest(name, TOPIC_CONFIG)
                raise BadContract(file, "topicConfig", f"one of {listed}", name, advice)
            if not isinstance(value, str):
                raise BadContract(
                    file, f"topicConfig, {name}", "a string", repr(value), "Put it in quotes."
                )
    return TopicSettings(partitions, MappingProxyType(config))


def read_readers(file: Path, visibility: str, custom: CustomProperties) -> tuple[str, ...]:
    """The consumers of other domains that may read a private topic. Raises BadContract."""
    names: list[Any] = custom.take_optional("readers", list) or []
    if names and visibility == "public":
        raise BadContract(file, "readers", "none", names, "Anybody may read what is public.")
    for name in names:
        if not isinstance(name, str) or names.count(name) > 1:
            raise BadContract(file, "readers", "names, once each", repr(name), "Mend it.")
    return tuple(names)


def refuse_ambiguous_items(file: Path, fields: Sequence[Field], faults: Faults) -> None:
    """Refuse two equal names: an array's item names a type in Avro and a variable in SQL."""
    every = [field for _, field in list_fields(fields)]
    seen = {field.name for field in every}
    for field in every:
        with faults.collect("fields"):
            if field.item in seen:
                where, expected = f"field {field.name}", "an item's name of its own"
                raise BadContract(file, where, expected, field.item, "Rename it.")
        seen.add(field.item or field.name)


def read_examples(
    file: Path, schema: SchemaObject, fields: Sequence[Field], rules: Sequence[Rule], faults: Faults
) -> tuple[tuple[Row, ...], tuple[InvalidExample, ...]]:
    """Valid records, and records that break one rule each. An equal fault of several is one."""
    custom = CustomProperties(file, "the schema", schema.customProperties, faults, ("schema", 0))
    written: Any = faults.attempt("", None, custom.take, "examples", list)
    changes: Any = faults.attempt("", None, custom.take_optional, "invalidExamples", list)
    with faults.collect():
        custom.refuse_others("examples", "invalidExamples")
    read = examples.Examples(fields, rules, faults.missing)
    if written == []:
        read.note((), "none")
    of_examples = (*custom.find("examples"), "value")
    of_changes = (*custom.find("invalidExamples"), "value")
    valid = tuple(
        read.parse_record(example, (*of_examples, n)) for n, example in enumerate(written or ())
    )
    invalid = [
        example
        for number, change in enumerate(changes or ())
        if valid and (example := read.parse_invalid(valid[0], change, (*of_changes, number)))
    ]
    for problem, places in read.problems.items():
        numbers = ", ".join(str(int(place[-1]) + 1) for place in places if place)
        kind = "invalidExamples" if places[0][:-1] == of_changes else "examples"
        where, expected = f"{kind} {numbers}".strip(), "records of this contract"
        faults.add(BadContract(file, where, expected, problem, "Mend the example.", places[0]))
    absent = examples.list_absent(rules, valid[0]) if valid else ()
    return valid, (*absent, *invalid)
