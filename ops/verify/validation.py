"""The oracle's validation of a record: decoding, the contract's rules, timeliness."""

import io
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any

import fastavro
from pydantic import BaseModel, ValidationError

from contracts import (
    ADJUSTMENTS,
    HEARTBEATS,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    Contract,
    build_model,
    find_schemas,
    get_contract,
)
from contracts.models import BROKEN_RULE
from contracts.partitions import choose_partition
from contracts.times import EPOCH
from infra.kafka import Record

Event = dict[str, Any]


MOVING = tuple(topic.name for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS))


class Unreadable(Exception):
    """The record breaks its contract."""

    def __init__(self, why: object, *reasons: str) -> None:
        super().__init__(str(why))
        self.reasons: Collection[str] = reasons
        """The possible reasons of the quarantine; none: any reason."""


@dataclass(frozen=True)
class Content:
    topic: str
    """The topic of the movement; for a release, its original's topic."""
    event_id: str
    """With the movement's time the identity: records of one partition with the same identity are
    duplicates. For a release, the original's topic and id."""
    movement: Event
    untimely: str | None
    """`late` or `future`, by the record's own event time; None: on time."""


def read_record(record: Record) -> Content:
    """The content of the record, timely or not. Raises Unreadable."""
    fields = parse_event(record)
    refuse_misplaced(record)
    if record.topic != RELEASES.name:
        # Each heartbeat counts: it says no more than what time it is.
        named = str(record.offset) if record.topic == HEARTBEATS.name else fields["event_id"]
        return Content(record.topic, named, fields, find_untimeliness(record, fields))
    inner = unwrap_original(record, fields)
    identity = f"{fields['topic']}/{fields['original_event_id']}"
    return Content(fields["topic"], identity, inner, find_untimeliness(record, fields))


def unwrap_original(record: Record, release: Event) -> Event:
    """The event within a release. Raises Unreadable."""
    if release["topic"] not in MOVING:
        raise Unreadable(f"a release of {release['topic']}", "unreleasable")
    key, value = release["record_key"].encode(), release["value"]
    try:
        inner = parse_event(replace(record, topic=release["topic"], key=key, value=value))
    except Unreadable as error:
        raise Unreadable(error, "unreleasable") from error
    if inner["event_id"] != release["original_event_id"]:
        raise Unreadable("a release of another event", "unreleasable")
    return inner


def parse_event(record: Record) -> Event:
    """The record's own fields. Raises Unreadable."""
    agreed = get_contract(record.topic)
    fields = decode_as(agreed, record.value)
    broken: list[str] = []
    try:
        load_model(record.topic).model_validate(fields)
    except ValidationError as error:
        broken = [fault["msg"] for fault in error.errors()]
        if any(fault["type"] != BROKEN_RULE for fault in error.errors()):
            raise Unreadable(error, "undecodable") from error
    if "/".join(str(fields[field]) for field in agreed.key).encode() != record.key:
        raise Unreadable(f"its key is {record.key!r}", "wrong-key")
    if broken:
        raise Unreadable("; ".join(broken), *broken)
    return fields


def refuse_misplaced(record: Record) -> None:
    """Raise Unreadable if the record is not in the partition of its key."""
    partitions = get_contract(record.topic).settings.partitions
    if record.partition != choose_partition(record.key or b"", partitions):
        raise Unreadable(f"it is in partition {record.partition}", "wrong-partition")


def find_untimeliness(record: Record, happened: Event) -> str | None:
    """`late` for a record published beyond the horizon, `future` beyond the skew; None: on time."""
    agreed = get_contract(record.topic)
    delay = timedelta(milliseconds=record.published_ms) - (happened["event_time"] - EPOCH)
    if agreed.horizon is not None and delay > agreed.horizon:
        return "late"
    if agreed.skew is not None and -delay > agreed.skew:
        return "future"
    return None


def decode_as(agreed: Contract, value: bytes | None) -> Event:
    if value is None or len(value) < 5 or value[0] != 0:
        raise Unreadable("not in the Confluent frame", "undecodable")
    writer = load_writers(agreed.name).get(int.from_bytes(value[1:5], "big"))
    if writer is None:
        raise Unreadable("a schema that nobody has registered", "undecodable")
    try:
        fields = fastavro.schemaless_reader(io.BytesIO(value[5:]), writer, None)
    except OverflowError as error:
        raise Unreadable("a time that no calendar has, and Spark does") from error
    except (EOFError, IndexError, ValueError) as error:
        raise Unreadable(f"does not decode: {error}", "undecodable") from error
    assert isinstance(fields, dict)
    return fields


@cache
def load_writers(topic: str) -> dict[int, Any]:
    schemas = find_schemas(get_contract(topic))
    return {schema_id: fastavro.parse_schema(schema) for schema_id, schema in schemas.items()}


@cache
def load_model(topic: str) -> type[BaseModel]:
    return build_model(get_contract(topic))
