"""The terms of a contract besides fields and rules: key, time, topic, examples."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from open_data_contract_standard.model import SchemaObject, ServiceLevelAgreementProperty

from contracts import examples
from contracts.errors import BadContract, Location
from contracts.odcs import CustomProperties
from contracts.projection import list_all
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
    fields: Sequence[Field], rules: Sequence[Rule], custom: CustomProperties
) -> tuple[str, ...]:
    """The key's fields. A "/" joins several, so none may hold one. Raises BadContract."""
    names: list[Any] = custom.take("key", list)
    known = {field.name: field for field in fields}
    without_slash = {
        rule.path
        for rule in rules
        if rule.kind == "pattern"  # none of them admits one: see contracts/rules.py
        or (isinstance(rule.limit, tuple) and "/" not in "".join(rule.limit))
    }
    for name in names or [None]:
        _check_key_field(known, name)
        if len(names) > 1 and known[name].type == "string" and (name,) not in without_slash:
            advice = "Keep the / out: ^[^/]{1,64}$ will do."
            raise BadContract(f"key field {name}", "a pattern", "none", advice)
    return tuple(names)


def _check_key_field(known: Mapping[str, Field], name: Any) -> None:
    field = known.get(name) if isinstance(name, str) else None
    if field is None:
        listed = ", ".join(known)
        raise BadContract("key", f"fields of {listed}", name, "Name fields.")
    if not field.required or field.type not in KEY_TYPES:
        written = f"{name}, {'required' if field.required else 'optional'} {field.type}"
        expected = f"required fields of {', '.join(KEY_TYPES)}"
        raise BadContract("key", expected, written, "Choose others.")


def read_event_time(fields: Sequence[Field], custom: CustomProperties) -> str | None:
    """The field with the time of the event. Raises BadContract."""
    name: str | None = custom.take_optional("eventTime", str)
    times = [field.name for field in fields if field.type == "timestamp" and field.required]
    if name is not None and name not in times:
        listed = ", ".join(times) or "a required timestamp"
        raise BadContract("eventTime", f"one of {listed}", name, "Name such a field.")
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
    listed: Iterable[ServiceLevelAgreementProperty],
    entity: str,
    measured: Mapping[str, Sequence[str]],
) -> dict[str, timedelta]:
    """Each span by its name. Raises BadContract for one that lacks its field or its reason."""
    spans: dict[str, timedelta] = {}
    for number, one in enumerate(listed):
        at = ("slaProperties", number)
        length, name = _read_span(one, entity, measured, at), str(one.property)
        if name in spans:
            raise BadContract(f"slaProperties, {name}", "it once", name, "Remove one of them.", at)
        spans[name] = length
    return spans


def _read_span(
    one: ServiceLevelAgreementProperty,
    entity: str,
    measured: Mapping[str, Sequence[str]],
    at: Location,
) -> timedelta:
    where = f"slaProperties, {one.property}"
    if one.property not in SPANS:
        expected, advice = f"{', '.join(SPANS)}, once each", suggest(one.property, SPANS)
        raise BadContract(where, expected, one.property, advice, at)
    if type(one.value) is not int or one.value < 0 or one.unit not in SPAN_UNITS:
        expected = f"a whole number of {', '.join(SPAN_UNITS)}"
        raise BadContract(where, expected, f"{one.value} {one.unit}", "Mend it.", at)
    elements = [f"{entity}.{name}" for name in measured[one.property]]
    if one.element not in elements:
        expected = f"element {' or '.join(elements) or 'none: there is no such time'}"
        raise BadContract(where, expected, one.element, MEASURED_ON[one.property], at)
    if not one.description:
        raise BadContract(where, "a description", "none", "Say why it is so long.", at)
    return timedelta(**{SPAN_UNITS[one.unit]: one.value})


def read_topic_settings(custom: CustomProperties) -> TopicSettings:
    partitions: int = custom.take("partitions", int)
    if not 1 <= partitions <= PARTITIONS_MAX:
        raise BadContract("partitions", f"1 to {PARTITIONS_MAX}", partitions, "Mend it.")
    config: dict[Any, Any] = custom.take("topicConfig", dict)
    for name, value in config.items():
        if name not in TOPIC_CONFIG:
            listed, advice = ", ".join(TOPIC_CONFIG), suggest(name, TOPIC_CONFIG)
            raise BadContract("topicConfig", f"one of {listed}", name, advice)
        if not isinstance(value, str):
            where = f"topicConfig, {name}"
            raise BadContract(where, "a string", repr(value), "Put it in quotes.")
    return TopicSettings(partitions, MappingProxyType(config))


def read_readers(visibility: str, custom: CustomProperties) -> tuple[str, ...]:
    """The consumers of other domains that may read a private topic. Raises BadContract."""
    names: list[Any] = custom.take_optional("readers", list) or []
    if names and visibility == "public":
        raise BadContract("readers", "none", names, "Anybody may read what is public.")
    for name in names:
        if not isinstance(name, str) or names.count(name) > 1:
            raise BadContract("readers", "names, once each", repr(name), "Mend it.")
    return tuple(names)


def refuse_ambiguous_items(fields: Sequence[Field]) -> None:
    """Refuse two equal names: an array's item names a type in Avro and a variable in SQL."""
    every = [field for _, field in list_all(fields)]
    seen = {field.name for field in every}
    for field in every:
        if field.item in seen:
            where, expected = f"field {field.name}", "an item's name of its own"
            raise BadContract(where, expected, field.item, "Rename it.")
        seen.add(field.item or field.name)


def read_examples(
    schema: SchemaObject, fields: Sequence[Field], rules: Sequence[Rule]
) -> tuple[tuple[Row, ...], tuple[InvalidExample, ...]]:
    """Valid records, and records that break one rule each. Raises BadContract."""
    custom = CustomProperties("the schema", schema.customProperties, ("schema", 0))
    written: list[Any] = custom.take("examples", list)
    changes: list[Any] = custom.take_optional("invalidExamples", list) or []
    custom.refuse_others("examples", "invalidExamples")
    if not written:
        raise BadContract("examples", "records of this contract", "none", "Give one.")
    valid = []
    for number, record in enumerate(written):
        with _name_example("examples", number, custom):
            valid.append(examples.parse_record(fields, record))
    invalid = []
    for number, change in enumerate(changes):
        with _name_example("invalidExamples", number, custom):
            invalid.append(examples.parse_invalid(fields, rules, valid[0], change))
    return tuple(valid), (*examples.list_absent(rules, valid[0]), *invalid)


@contextmanager
def _name_example(kind: str, number: int, custom: CustomProperties) -> Iterator[None]:
    """Raise BadContract, with the example's number, for a ValueError within."""
    try:
        yield
    except ValueError as error:
        where, at = f"{kind} {number + 1}", (*custom.find(kind), "value", number)
        expected = "a record of this contract"
        raise BadContract(where, expected, error, "Mend the example.", at) from error
