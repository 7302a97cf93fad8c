"""A record of the log, whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaException, Message

Headers = Sequence[tuple[str, bytes | None]]
"""Names and values, in order; a name may come twice."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the broker."""

    topic: str
    partition: int
    offset: int
    published_ms: int
    """The record timestamp, in epoch milliseconds."""
    key: bytes | None
    value: bytes | None
    headers: Headers


def to_record(message: Message) -> Record:
    """The record in a message. Raises KafkaException for a message that is an error."""
    error = message.error()
    if error is not None:
        raise KafkaException(error)
    headers = message.headers() or []
    pairs = headers.items() if isinstance(headers, dict) else headers
    return Record(
        topic=str(message.topic()),
        partition=int(message.partition() or 0),
        offset=int(message.offset() or 0),
        published_ms=message.timestamp()[1],
        key=message.key(),
        value=message.value(),
        headers=[(name, _to_bytes(value)) for name, value in pairs],
    )


def _to_bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
