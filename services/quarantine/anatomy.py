"""Takes a value apart: the fields that can be read, and the remaining bytes."""

import io
from dataclasses import dataclass, field

import fastavro

from contracts import Contract, Row, Undecodable, codec, find_schemas


@dataclass(frozen=True)
class Anatomy:
    """The readable fields, in order, and the bytes from the first unreadable field on."""

    schema_id: int | None = None
    fields: Row = field(default_factory=dict)
    rest: bytes = b""
    fault: str | None = None
    """Why the next field is unreadable; None: all fields are read, and `rest` follows them."""


def dissect(contract: Contract, value: bytes | None) -> Anatomy:
    try:
        framed = codec.parse_frame(value)
    except Undecodable as error:
        return Anatomy(rest=value or b"", fault=error.reason)
    schema = find_schemas(contract).get(framed.schema_id)
    body = framed.data[codec.FRAME_BYTES :]
    if schema is None:
        fault = f"no schema of {contract.name} has the id {framed.schema_id}"
        return Anatomy(framed.schema_id, rest=body, fault=fault)
    stream, at = io.BytesIO(body), 0
    fields: dict[str, object] = {}
    for one in schema["fields"]:
        try:
            # An Avro record is the sequence of its fields.
            fields[one["name"]] = fastavro.schemaless_reader(stream, one["type"], None)
        except (EOFError, ValueError, IndexError, OverflowError, TypeError, MemoryError) as error:
            why = str(error) or "it ends too soon"
            return Anatomy(framed.schema_id, fields, body[at:], f"{one['name']}: {why}")
        at = stream.tell()
    return Anatomy(framed.schema_id, fields, body[at:])
