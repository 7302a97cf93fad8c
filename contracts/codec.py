"""Values on the wire: Avro in the Confluent frame, a magic byte and a 4-byte schema id."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from io import BytesIO
from operator import index
from typing import Any

import fastavro

from contracts.catalog import CONTRACTS
from contracts.errors import Undecodable, Unencodable
from contracts.mapping import build_avro_schema
from contracts.schemas import get_schema_id, load_known
from contracts.shape import Contract, Field, Row
from contracts.times import EPOCH, MILLISECOND

MAGIC = b"\0"
FRAME_BYTES = 5
INTEGER_ENDS = {"int": 2**31, "long": 2**63}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A value with its contract, and the id of the schema that it was written with."""

    contract: Contract
    schema_id: int
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of values that were written with one schema."""

    contract: Contract
    writer: Any
    reader: Any
    """None where reader and writer have the same schema: Avro resolves nothing then."""


def encode(contract: Contract, value: Row) -> bytes:
    """The value in its frame. A timestamp is an aware datetime, or integer milliseconds of 1970.

    Raises Unencodable for a field that is absent or unknown, or a value that Avro cannot hold.
    `build_model` checks the rules; this function does not.
    """
    frame, schema, refuse_unfit = _get_writer(contract)
    stream = BytesIO()
    stream.write(frame)
    try:
        refuse_unfit(value)
        fastavro.schemaless_writer(stream, schema, value)
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise Unencodable(contract.name, error) from error
    return stream.getvalue()


def decode(data: bytes | None) -> Decoded:
    """The value in the frame, timestamps as aware datetimes in UTC. Raises Undecodable.

    It ignores bytes after the body. Spark's reader does so too, and all readers must agree.
    """
    schema_id = parse_schema_id(data)
    reader = _load_readers().get(schema_id)
    if reader is None:
        raise Undecodable(f"unknown schema id {schema_id}")
    return Decoded(reader.contract, schema_id, decode_body(data, reader.writer, reader.reader))


def parse_schema_id(data: bytes | None) -> int:
    """The id in the frame of a value; its body may be damaged. Raises Undecodable."""
    if data is None:
        raise Undecodable("no value")
    if len(data) < FRAME_BYTES:
        raise Undecodable(f"{len(data)} bytes: too short for a frame")
    if data[:1] != MAGIC:
        raise Undecodable(f"wrong magic byte {data[0]}")
    return int.from_bytes(data[1:FRAME_BYTES], "big")


def decode_body(data: bytes | None, writer: Any, reader: Any) -> dict[str, Any]:
    """The value in the frame, read with parsed schemas. Raises Undecodable."""
    stream = BytesIO(data or b"")
    stream.seek(FRAME_BYTES)
    try:
        value: Any = fastavro.schemaless_reader(stream, writer, reader)
    except (EOFError, ValueError, IndexError, OverflowError, TypeError, MemoryError) as error:
        why = str(error) or "it ends too soon"
        raise Undecodable(f"the body does not decode: {why}") from error
    assert isinstance(value, dict)
    return value


def encode_key(contract: Contract, value: Row) -> bytes:
    """The record's key: its fields, joined by "/"; a time is milliseconds of 1970."""
    return "/".join([_render_key_part(value[field]) for field in contract.key]).encode()


def _render_key_part(part: object) -> str:
    if isinstance(part, datetime):
        return str((part - EPOCH) // MILLISECOND)
    return str(part)


@cache
def _get_writer(contract: Contract) -> tuple[bytes, Any, Callable[[Row], None]]:
    schema = fastavro.parse_schema(build_avro_schema(contract))
    frame = MAGIC + get_schema_id(contract).to_bytes(4, "big")
    return frame, schema, _compile_guard(contract.fields)


def _compile_guard(fields: Sequence[Field]) -> Callable[[Row], None]:
    """A function that raises an error for a row that the writer would change.

    The writer skips unknown fields, cuts numbers, and takes any value for a boolean and a time
    without a zone for one of this machine's.
    """
    names = frozenset(field.name for field in fields)
    required = frozenset(field.name for field in fields if field.required)
    ends = [
        (field.name, INTEGER_ENDS[field.type]) for field in fields if field.type in INTEGER_ENDS
    ]
    booleans = [(field.name, field.required) for field in fields if field.type == "boolean"]
    times = [field.name for field in fields if field.type == "timestamp"]
    arrays = [(field.name, _compile_guard(field.fields)) for field in fields if field.fields]

    def refuse_unfit(row: Row) -> None:
        if not required <= row.keys() <= names:
            raise KeyError(*sorted(required - row.keys() | row.keys() - names))
        for name, end in ends:
            if (number := row.get(name)) is not None and not -end <= index(number) < end:
                raise OverflowError(f"{name}: {number} is out of range")
        for name, is_required in booleans:
            if not isinstance(flag := row.get(name), bool) and (is_required or flag is not None):
                raise TypeError(f"{name}: {flag!r} is no boolean")
        for name in times:
            _refuse_unfit_time(row.get(name))
        for name, refuse_unfit_item in arrays:
            for item in row.get(name) or ():
                refuse_unfit_item(item)

    return refuse_unfit


def _refuse_unfit_time(moment: Any) -> None:
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise TypeError(f"{moment} has no zone")
    elif moment is not None:
        index(moment)


@cache
def _load_readers() -> Mapping[int, Reader]:
    readers = {}
    for entry in load_known():
        contract = CONTRACTS.get(entry.topic)
        if contract is not None:
            current = build_avro_schema(contract)
            reader = None if entry.schema == current else fastavro.parse_schema(current)
            readers[entry.id] = Reader(contract, fastavro.parse_schema(entry.schema), reader)
    return readers
