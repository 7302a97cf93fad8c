"""Records of the log, and bounded reads: between offsets, and a compacted table."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from infra.kafka.clients import create_admin, create_consumer
from infra.kafka.offsets import Offsets, Partition, read_end_offsets, read_start_offsets
from infra.settings import Settings

IDLE_SECONDS_MAX = 30.0
"""How long Kafka may send nothing before the end. The read of a long log may take longer."""

POLL_SECONDS = 0.1
RECORDS_PER_POLL_MAX = 5_000

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
        headers=[
            (name, value.encode() if isinstance(value, str) else value) for name, value in pairs
        ],
    )


def read_between(
    settings: Settings, starts: Offsets, ends: Offsets, **overrides: str | int
) -> Generator[Message]:
    """Every committed record of each partition from its start, or its first record, to its end.

    Overrides of the consumer's settings are as in `create_consumer`.
    The records of a partition come in order; the order of partitions is arbitrary. Raises
    TimeoutError when Kafka sends nothing for IDLE_SECONDS_MAX.
    """
    waiting = {partition: end for partition, end in ends.items() if starts.get(partition, 0) < end}
    if not waiting:
        return
    reader = create_consumer(settings, None, enable_partition_eof=True, **overrides)
    try:
        places = [TopicPartition(*partition, starts.get(partition, 0)) for partition in waiting]
        reader.assign(places)
        yield from read_assigned(reader, waiting, IDLE_SECONDS_MAX)
    finally:
        reader.close()


def consume_arrived(reader: Consumer, records_max: int, wait_seconds: float) -> list[Message]:
    """The messages that have arrived; none if none comes within the time.

    `Consumer.consume` alone would wait for all of them, or for as long as it may.
    """
    first = reader.poll(wait_seconds)
    return [] if first is None else [first, *reader.consume(records_max - 1, timeout=0)]


def read_assigned(reader: Consumer, ends: Offsets, idle_seconds_max: float) -> Generator[Message]:
    """Every record of the assigned partitions, up to these ends, as in `read_between`.

    The consumer has `enable.partition.eof`: an end may be behind records that are not delivered.
    """
    waiting = dict(ends)
    deadline = time.monotonic() + idle_seconds_max
    while waiting:
        for message in consume_arrived(reader, RECORDS_PER_POLL_MAX, POLL_SECONDS):
            partition, offset = get_place(message)
            if message.error() is not None:
                if offset >= ends[partition]:
                    waiting.pop(partition, None)
                continue
            if offset < ends[partition]:
                yield message
            deadline = time.monotonic() + idle_seconds_max
        waiting = _find_unread(reader, waiting)
        if waiting and time.monotonic() > deadline:
            raise TimeoutError(
                f"Kafka should send the rest of {sorted(waiting)} within "
                f"{idle_seconds_max:g} s, but does not. See: make logs COMPONENT=broker"
            )


def read_to_end(settings: Settings, topic: str) -> dict[bytes, bytes]:
    """The latest value of every key in a compacted topic, up to the topic's end at the call.

    Raises UnknownTopic, and TimeoutError as read_between does.
    """
    client = create_admin(settings)
    ends, starts = read_end_offsets(client, [topic]), read_start_offsets(client, [topic])
    latest: dict[bytes, bytes] = {}
    for message in read_between(settings, starts, ends):
        key, value = message.key() or b"", message.value()
        if value is None:
            latest.pop(key, None)
        else:
            latest[key] = value
    return latest


def get_place(message: Message) -> tuple[Partition, int]:
    """The partition and offset of a record, or of the end of a partition.

    Raises KafkaException for another error.
    """
    error = message.error()
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    return (str(message.topic()), int(message.partition() or 0)), int(message.offset() or 0)


def _find_unread(reader: Consumer, waiting: Offsets) -> dict[Partition, int]:
    """The partitions whose end has not been reached.

    It asks for positions: the end may be a transaction's marker, or compacted away.
    """
    position = reader.position([TopicPartition(*partition) for partition in waiting])
    places = {(place.topic, place.partition): place.offset for place in position}
    return {partition: end for partition, end in waiting.items() if places[partition] < end}
