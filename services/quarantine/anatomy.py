"""A value taken apart: what can be read of it, and what is left over."""

import io
from dataclasses import dataclass, field
from typing import Any

import fastavro

from contracts import Contract, Undecodable, codec, schemas_of


@dataclass(frozen=True)
class Anatomy:
    """The fields that can be read, in order, and the bytes from the first that cannot be."""

    schema_id: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    rest: bytes = b""
    fault: str | None = None
    """Why it ends there; None: all fields are read, and what is left follows the body."""


def anatomy(contract: Contract, value: bytes | None) -> Anatomy:
    try:
        framed = codec.frame(value)
    except Undecodable as error:
        return Anatomy(rest=value or b"", fault=error.reason)
    schema = schemas_of(contract).get(framed.schema_id)
    body = framed.data[codec.FRAME_BYTES :]
    if schema is None:
        fault = f"no schema of {contract.name} has the id {framed.schema_id}"
        return Anatomy(framed.schema_id, rest=body, fault=fault)
    stream, fields, at = io.BytesIO(body), dict[str, Any](), 0
    for one in schema["fields"]:
        try:
            # A record is its fields, one after the other.
            fields[one["name"]] = fastavro.schemaless_reader(stream, one["type"], None)
        except (EOFError, ValueError, IndexError, OverflowError, TypeError, MemoryError) as error:
            why = str(error) or "it ends too soon"
            return Anatomy(framed.schema_id, fields, body[at:], f"{one['name']}: {why}")
        at = stream.tell()
    return Anatomy(framed.schema_id, fields, body[at:])
