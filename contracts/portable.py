"""What validation.py asks of a record, as plain data for a program in another language.

pipelines/engine/java/Description.java reads it. Fields are numbered as in the contract.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from contracts.catalog import HEARTBEATS, RELEASES
from contracts.lines import LINES, Line, find_lines, select_fields
from contracts.projection import Path
from contracts.rules import KINDS
from contracts.schemas import find_schemas
from contracts.shape import Contract, Field, Rule
from contracts.times import MILLISECOND
from contracts.validation import RELEASABLE

Plain = dict[str, Any]

ON_WIRE = {"int": "long", "timestamp": "long", "string": "bytes"}
"""By type: another one whose values have the same bytes."""


def describe(reads: Mapping[Contract, Collection[Path]], line: Line | None = None) -> Plain:
    """The topics of a reader, with heartbeats and whatever may be released.

    `reads`: by topic: the fields that the reader takes of an accepted event. `line`: the lines that
    it takes, of whichever topic, before the events; None: it takes none.
    """
    topics = dict.fromkeys((*reads, HEARTBEATS, RELEASES, *RELEASABLE.values()))
    columns = {topic: number for number, topic in enumerate(reads, 0 if line is None else 1)}
    releases = number_fields(RELEASES.fields)
    return {
        "topics": {
            topic.name: describe_topic(topic, columns.get(topic, -1), reads.get(topic, ()), line)
            for topic in topics
        },
        "lineKeys": [] if line is None else line.number_keys(),
        "heartbeats": HEARTBEATS.name,
        "releases": RELEASES.name,
        "releasePlaces": {
            "topic": releases["topic"],
            "key": releases["record_key"],
            "eventId": releases["original_event_id"],
            "value": releases["value"],
        },
    }


def describe_topic(
    topic: Contract, column: int, paths: Collection[Path], line: Line | None
) -> Plain:
    """A contract; its accepted events go to this column, with the fields on these paths."""
    places = number_fields(topic.fields)
    return {
        "name": topic.name,
        "fields": len(topic.fields),
        "writers": {
            number: list(list_steps(schema, topic.fields))
            for number, schema in find_schemas(topic).items()
        },
        "key": [places[name] for name in topic.key],
        "eventId": places["event_id"],
        "eventTime": places[str(topic.event_time)],
        "partitions": topic.settings.partitions,
        "horizonMs": count_milliseconds(topic.horizon),
        "skewMs": count_milliseconds(topic.skew),
        "rules": [
            describe_rule(topic.fields, rule)
            for rule in topic.rules
            if rule.kind != "required" or len(rule.path) == 1  # as in checks.py
        ],
        "releasable": topic.name in RELEASABLE,
        "column": column,
        "kept": list_kept(topic.fields, select_fields(topic, paths, line)),
        "lines": None if column < 0 or line is None else describe_lines(topic, line),
    }


def list_steps(schema: Plain, fields: Sequence[Field]) -> Iterator[Plain]:
    """The values of a body that was written with this schema, and the field of each."""
    places = number_fields(fields)
    for written in schema["fields"]:
        place = places.get(written["name"], -1)
        kind, optional = written["type"], isinstance(written["type"], list)
        if optional:
            _, kind = kind  # null comes first: contracts/mapping.py
        yield {
            "to": place,
            "optional": optional,
            **describe_type(kind, None if place < 0 else fields[place]),
        }


def describe_type(written: Any, field: Field | None) -> Plain:
    """A written value, as what its field has; None: the contract has no such field."""
    kind = written if isinstance(written, str) else written["type"]
    if kind == "array":
        inner = () if field is None else field.fields
        items = list(list_steps(written["items"], inner))
        return {"type": kind, "items": items, "fields": len(inner)}
    read_as = kind if field is None else field.type
    if ON_WIRE.get(kind, kind) != ON_WIRE.get(read_as, read_as):
        raise ValueError(f"{read_as} cannot be read where {kind} was written")
    return {"type": read_as, "items": None, "fields": 0}


def describe_rule(fields: Sequence[Field], rule: Rule) -> Plain:
    limit: Any = rule.limit
    if KINDS[rule.kind].limit_is_field:
        limit = number_fields(fields)[str(limit)]
    path = list(find_places(fields, rule.path))
    return {"reason": rule.name, "kind": rule.kind, "path": path, "limit": limit}


def find_places(fields: Sequence[Field], path: Path) -> Iterator[int]:
    for name in path:
        place = number_fields(fields)[name]
        yield place
        fields = fields[place].fields


def list_kept(fields: Sequence[Field], kept: Sequence[Field]) -> list[Plain]:
    """The fields that are kept, with their places among all of them; -1: it is none of them."""
    places = {field.name: (number, field.fields) for number, field in enumerate(fields)}
    found = [(field, *places.get(field.name, (-1, ()))) for field in kept]
    return [
        {"at": position, "type": field.type, "items": list_kept(inner, field.fields)}
        for field, position, inner in found
    ]


def describe_lines(topic: Contract, line: Line) -> Plain:
    """The array of the topic's lines; of a topic without one: the event is its own only line."""
    _, fields = find_lines(topic)
    position = number_fields(topic.fields).get(LINES, -1)
    return {"at": position, "type": "array", "items": list_kept(fields, line.fields)}


def number_fields(fields: Sequence[Field]) -> Mapping[str, int]:
    return {field.name: number for number, field in enumerate(fields)}


def count_milliseconds(length: timedelta | None) -> int | None:
    return None if length is None else length // MILLISECOND
