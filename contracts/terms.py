"""The terms of a contract besides fields and rules: key, time, topic, examples."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from open_data_contract_standard.model import SchemaObject, ServiceLevelAgreementProperty

from contracts import examples
from contracts.errors import BadContract
from contracts.odcs import CustomProperties
from contracts.shape import Field, InvalidExample, Row, Rule, TopicSettings

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
KNOWN_PROPERTIES = "examples, invalidExamples"

# The settings that a contract may give its topic; the others are the broker's defaults.
TOPIC_CONFIG = (
    "cleanup.policy",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "min.compaction.lag.ms",
    "retention.ms",
)


def read_key(
    file: Path, fields: Sequence[Field], rules: Sequence[Rule], names: list[Any]
) -> tuple[str, ...]:
    """The key's fields. A "/" joins several, so none may hold one. Raises BadContract."""
    by_name = {field.name: field for field in fields}
    without_slash = {
        rule.path
        for rule in rules
        if rule.kind == "pattern"  # none of them admits one: see contracts/rules.py
        or (isinstance(rule.limit, tuple) and "/" not in "".join(rule.limit))
    }
    for name in names or [None]:
        field = by_name.get(name)
        if field is None:
            listed = ", ".join(by_name)
            raise BadContract(file, "key", f"fields of {listed}", name, "Name fields.")
        if not field.required or field.type not in KEY_TYPES:
            written = f"{name}, {'required' if field.required else 'optional'} {field.type}"
            raise BadContract(
                file, "key", f"required fields of {', '.join(KEY_TYPES)}", written, "Choose others."
            )
        if len(names) > 1 and field.type == "string" and (name,) not in without_slash:
            raise BadContract(
                file,
                f"key field {name}",
                "a pattern",
                "none",
                "Keep the / out: ^[^/]{1,64}$ will do.",
            )
    return tuple(names)


def read_event_time(file: Path, fields: Sequence[Field], name: str | None) -> str | None:
    """The field with the time of the event. Raises BadContract."""
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
) -> dict[str, timedelta]:
    """Each span by its name. Raises BadContract where one lacks its field or its reason."""
    spans: dict[str, timedelta] = {}
    for one in listed:
        where = f"slaProperties, {one.property}"
        if one.property not in SPANS or one.property in spans:
            expected = f"{', '.join(SPANS)}, once each"
            raise BadContract(file, where, expected, one.property, "Mend it.")
        if type(one.value) is not int or one.value < 0 or one.unit not in SPAN_UNITS:
            expected = f"a whole number of {', '.join(SPAN_UNITS)}"
            raise BadContract(file, where, expected, f"{one.value} {one.unit}", "Mend it.")
        elements = [f"{entity}.{name}" for name in measured[one.property]]
        if one.element not in elements:
            expected = f"element {' or '.join(elements) or 'none: there is no such time'}"
            raise BadContract(file, where, expected, one.element, MEASURED_ON[one.property])
        if not one.description:
            raise BadContract(file, where, "a description", "none", "Say why it is so long.")
        spans[one.property] = timedelta(**{SPAN_UNITS[one.unit]: one.value})
    return spans


def read_topic_settings(file: Path, custom: CustomProperties) -> TopicSettings:
    partitions: int = custom.take("partitions", int)
    if not 1 <= partitions <= PARTITIONS_MAX:
        raise BadContract(file, "partitions", f"1 to {PARTITIONS_MAX}", partitions, "Mend it.")
    config: dict[Any, Any] = custom.take("topicConfig", dict)
    for name, value in config.items():
        if name not in TOPIC_CONFIG:
            raise BadContract(
                file, "topicConfig", f"one of {', '.join(TOPIC_CONFIG)}", name, "Remove it."
            )
        if not isinstance(value, str):
            raise BadContract(
                file, f"topicConfig, {name}", "a string", repr(value), "Put it in quotes."
            )
    return TopicSettings(partitions, MappingProxyType(config))


def read_readers(file: Path, visibility: str, names: list[Any]) -> tuple[str, ...]:
    """The consumers of other domains that may read a private topic."""
    if names and visibility == "public":
        raise BadContract(file, "readers", "none", names, "Anybody may read what is public.")
    for name in names:
        if not isinstance(name, str) or names.count(name) > 1:
            raise BadContract(file, "readers", "names, once each", repr(name), "Mend it.")
    return tuple(names)


def read_sunset(file: Path, sunset: Any) -> date | None:
    """The last day on which a contract with a successor is supported. Raises BadContract."""
    if isinstance(sunset, datetime):
        raise BadContract(file, "sunset", "a day, as 2027-03-31", sunset, "Leave out the time.")
    return sunset  # type: ignore[no-any-return]  # `take_optional` checked that it is a date


def refuse_ambiguous_items(file: Path, fields: Sequence[Field]) -> None:
    """Refuse two equal names: an array's item names a type in Avro and a variable in SQL."""
    seen = {field.name for field in _list_all_fields(fields)}
    for field in _list_all_fields(fields):
        if field.item:
            if field.item in seen:
                raise BadContract(
                    file,
                    f"field {field.name}",
                    "an item's name of its own",
                    field.item,
                    "Rename it.",
                )
            seen.add(field.item)


def _list_all_fields(fields: Sequence[Field]) -> list[Field]:
    return [one for field in fields for one in (field, *_list_all_fields(field.fields))]


def read_examples(
    file: Path, schema: SchemaObject, fields: Sequence[Field], rules: Sequence[Rule]
) -> tuple[tuple[Row, ...], tuple[InvalidExample, ...]]:
    """Valid records, and records that break one rule each."""
    custom = CustomProperties(file, "the schema", schema.customProperties)
    valid_written = custom.take("examples", list)
    invalid_written = custom.take_optional("invalidExamples", list) or []
    custom.refuse_others(KNOWN_PROPERTIES)
    try:
        valid = tuple(examples.parse_record(fields, written) for written in valid_written)
        if not valid:
            raise ValueError("none")
        invalid = [examples.parse_invalid(fields, rules, valid[0], one) for one in invalid_written]
    except ValueError as error:
        raise BadContract(
            file, "examples", "records of this contract", error, "Mend the example."
        ) from error
    return valid, (*examples.list_absent(rules, valid[0]), *invalid)
