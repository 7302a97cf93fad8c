"""What a person is told of a rejected record: the fields that can be read, and the remedy."""

import io
from dataclasses import dataclass, field

import fastavro

from contracts import Contract, Row, Undecodable, codec, find_schemas
from contracts.validation import (
    FUTURE,
    LATE,
    RELEASABLE,
    WRONG_KEY,
    WRONG_PARTITION,
    Rejection,
    find_first_fault,
    read,
)

RELEASED_REASONS = (LATE, FUTURE, WRONG_KEY, WRONG_PARTITION)


@dataclass(frozen=True)
class Remedy:
    """Whether the record may be released, and what to do, in words."""

    event: Row | None
    """The event to release, its times in milliseconds since 1970; None: no release is allowed."""
    text: str


def find_remedy(contract: Contract, reason: str, value: bytes | None) -> Remedy:
    """The remedy, by the record alone. Its release checks later whether the event has counted."""
    if contract.name not in RELEASABLE:
        return Remedy(
            None,
            f"Announce it anew: what {contract.name} says holds from a time on, and a release "
            "would come behind that time.",
        )
    if reason not in RELEASED_REASONS:
        return Remedy(None, "Publish a corrected event: this one does not keep its contract.")
    event = read(contract, value)
    if isinstance(event, Rejection):
        return Remedy(None, "Publish a corrected event: this one does not decode.")
    fault = find_first_fault(contract, codec.encode_key(contract, event), event)
    if fault is not None:
        return Remedy(None, f"Publish a corrected event: this one breaks a rule: {fault.reason}.")
    return Remedy(event, "It may be released, once its event can no longer come in time.")


@dataclass(frozen=True)
class Anatomy:
    """The readable fields, in order, and the bytes from the first unreadable field on."""

    schema_id: int | None = None
    fields: Row = field(default_factory=dict)
    rest: bytes = b""
    fault: str | None = None
    """Why the next field is unreadable; None: all fields are read, and `rest` follows them."""


def dissect(contract: Contract, value: bytes | None) -> Anatomy:
    """Take a value apart."""
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
