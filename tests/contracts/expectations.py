"""What was really published, read as one consumer reads it, and compared with its expectations.

Decoded here with the consumer's own schema, made of nothing but the fields that it declares, by
Avro's resolution: no code of the project stands in between.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import fastavro

from contracts import Contract
from contracts.declarations import Reliances, Use
from contracts.mapping import build_avro_projection
from contracts.partitions import choose_partition
from contracts.projection import Path, parse_path, project_fields
from contracts.schemas import find_schemas
from contracts.times import EPOCH, MILLISECOND, parse_span
from infra.kafka import Record

FRAME_BYTES = 5
LEAST = {"positive": 1, "not negative": 0}


def project(use: Use, contract: Contract, value: bytes) -> dict[str, Any]:
    """The record as the consumer has it. Raises what fastavro raises where it cannot be read."""
    writer = _parse_writer(contract, int.from_bytes(value[1:FRAME_BYTES], "big"))
    reader = _parse_reader(contract, use.list_paths(contract))
    read = fastavro.schemaless_reader(io.BytesIO(value[FRAME_BYTES:]), writer, reader)
    assert isinstance(read, dict)
    return read


def find_violations(use: Use, contract: Contract, records: Iterable[Record]) -> Iterator[str]:
    """Every record that is not as the consumer takes for granted."""
    first: dict[tuple[Any, ...], tuple[int, bytes]] = {}
    for record in records:
        assert record.value is not None
        value = project(use, contract, record.value)
        for fault in (
            *_check_values(use.relies_on, value),
            *_check_place(use.relies_on, contract, value, record),
            *_check_time(use.relies_on, contract, value, record),
        ):
            yield f"{record.topic}/{record.partition}/{record.offset}: {fault}"
        if use.relies_on.unique and "compact" not in str(contract.settings.config):
            identity = tuple(value[field] for field in use.relies_on.unique)
            copy = first.setdefault(identity, (record.partition, record.value))
            if copy != (record.partition, record.value):
                yield f"{record.topic}: {identity} twice, with other content or elsewhere"


def _check_values(relies: Reliances, value: Mapping[str, Any]) -> Iterator[str]:
    for place, sign in relies.sign.items():
        if any(number < LEAST[sign] for number in find_at(value, parse_path(place))):
            yield f"{place} is not {sign}"
    for place, values in relies.values.items():
        found = find_at(value, parse_path(place))
        yield from (f"{place} is {number}" for number in found if number not in values)


def _check_place(
    relies: Reliances, contract: Contract, value: Mapping[str, Any], record: Record
) -> Iterator[str]:
    """In a compacted topic, which names a row names its key."""
    compacted = "compact" in str(contract.settings.config)
    named = relies.order or (relies.unique if compacted else None)
    if named is None or not set(named) <= value.keys():
        return
    expected = "/".join(_render_in_key(value[field]) for field in named).encode()
    if record.key != expected:
        yield f"the key is {record.key!r}, not {expected!r}"
    elif record.partition != choose_partition(expected, contract.settings.partitions):
        yield f"{expected!r} lies in partition {record.partition}"


def _render_in_key(part: object) -> str:
    """A time is milliseconds of 1970."""
    return str((part - EPOCH) // MILLISECOND if isinstance(part, datetime) else part)


def _check_time(
    relies: Reliances, contract: Contract, value: Mapping[str, Any], record: Record
) -> Iterator[str]:
    happened = value.get(contract.event_time or "")
    if relies.late and isinstance(happened, datetime):
        late_ms = record.published_ms - happened.timestamp() * 1000
        if late_ms > parse_span(relies.late).total_seconds() * 1000:
            yield f"{late_ms} ms late"


def find_at(value: Any, path: Path) -> list[Any]:
    head, *rest = path
    if not rest:
        return [] if value[head] is None else [value[head]]
    return [value_there for item in value[head] or () for value_there in find_at(item, tuple(rest))]


@cache
def _parse_writer(contract: Contract, number: int) -> Any:
    return fastavro.parse_schema(find_schemas(contract)[number])


@cache
def _parse_reader(contract: Contract, paths: tuple[Path, ...]) -> Any:
    fields = project_fields(contract.fields, paths)
    return fastavro.parse_schema(build_avro_projection(contract, fields))
