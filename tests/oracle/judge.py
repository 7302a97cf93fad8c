"""The oracle's own judgement of a record: decoded, held against its contract, on time or not."""

import io
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import fastavro
from pydantic import BaseModel, ValidationError

from contracts import Contract, contract, model, schemas_of
from tests.oracle.log import Record

Event = dict[str, Any]


class Unreadable(Exception):
    """The record does not say anything that its contract allows."""


def event(record: Record) -> Event:
    """What the record says, on time or not; raises Unreadable."""
    agreed = contract(record.topic)
    found = decoded(agreed, record.value)
    try:
        checked(record.topic).model_validate(found)
    except ValidationError as error:
        raise Unreadable(str(error)) from error
    if "/".join(str(found[field]) for field in agreed.key).encode() != record.key:
        raise Unreadable(f"its key is {record.key!r}")
    return found


def on_time(record: Record, happened: Event) -> bool:
    """Whether it was published neither too long after it happened nor too long before."""
    agreed = contract(record.topic)
    delay = timedelta(milliseconds=record.published_ms) - since_epoch(happened["event_time"])
    too_late = agreed.horizon is not None and delay > agreed.horizon
    too_early = agreed.skew is not None and -delay > agreed.skew
    return not (too_late or too_early)


def decoded(agreed: Contract, value: bytes | None) -> Event:
    if value is None or len(value) < 5 or value[0] != 0:
        raise Unreadable("not in the Confluent frame")
    writer = writers(agreed.name).get(int.from_bytes(value[1:5], "big"))
    if writer is None:
        raise Unreadable("a schema that nobody has registered")
    try:
        found = fastavro.schemaless_reader(io.BytesIO(value[5:]), writer, None)
    except (EOFError, IndexError, ValueError, OverflowError) as error:
        raise Unreadable(f"does not decode: {error}") from error
    assert isinstance(found, dict)
    return found


def since_epoch(at: datetime) -> timedelta:
    return at - datetime.fromtimestamp(0, at.tzinfo)


@cache
def writers(topic: str) -> dict[int, Any]:
    schemas = schemas_of(contract(topic))
    return {schema_id: fastavro.parse_schema(schema) for schema_id, schema in schemas.items()}


@cache
def checked(topic: str) -> type[BaseModel]:
    return model(contract(topic))
