"""Bounded reads of the log: between offsets, a topic's values, a compacted table."""

import time
from collections.abc import Generator, Iterator

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from infra.kafka.clients import create_admin, create_consumer
from infra.kafka.offsets import Offsets, Partition, read_end_offsets, read_start_offsets
from infra.settings import Settings

IDLE_SECONDS_MAX = 30.0
"""How long Kafka may send nothing before the end. The read of a long log may take longer."""

POLL_SECONDS = 0.1
RECORDS_PER_POLL_MAX = 5_000


def read_between(
    settings: Settings, starts: Offsets, ends: Offsets, **overrides: str
) -> Generator[Message]:
    """Every committed record of each partition from its start, or its first record, to its end.

    Overrides of the consumer's settings are as in `create_consumer`.
    The records of a partition come in order; the order of partitions is arbitrary. Raises
    TimeoutError when Kafka sends nothing for IDLE_SECONDS_MAX.
    """
    waiting = {at: end for at, end in ends.items() if starts.get(at, 0) < end}
    reader = create_consumer(settings, **overrides)
    try:
        reader.assign([TopicPartition(*at, starts.get(at, 0)) for at in waiting])
        deadline = time.monotonic() + IDLE_SECONDS_MAX
        while waiting:
            for message in reader.consume(RECORDS_PER_POLL_MAX, timeout=POLL_SECONDS):
                at, offset = _get_place(message)
                if offset < ends[at]:
                    yield message
                deadline = time.monotonic() + IDLE_SECONDS_MAX
            waiting = _find_unread(reader, waiting)
            if waiting and time.monotonic() > deadline:
                raise TimeoutError(
                    f"Kafka should send the rest of {sorted(waiting)} within "
                    f"{IDLE_SECONDS_MAX:g} s, but does not. See: make logs COMPONENT=broker"
                )
    finally:
        reader.close()


def read_to_end(
    settings: Settings, topic: str, *, records_max: int | None = None
) -> dict[bytes, bytes]:
    """The latest value of every key in a compacted topic, up to the topic's end at the call.

    With `records_max`, only the keys among that number of last offsets of each partition.
    Raises UnknownTopic, and TimeoutError as read_between does.
    """
    client = create_admin(settings)
    ends, starts = read_end_offsets(client, [topic]), read_start_offsets(client, [topic])
    if records_max is not None:
        starts = {at: max(start, ends[at] - records_max) for at, start in starts.items()}
    return read_newest(settings, starts, ends)


def read_newest(settings: Settings, starts: Offsets, ends: Offsets) -> dict[bytes, bytes]:
    """The latest value of every key between these offsets. Raises TimeoutError as read_between."""
    latest: dict[bytes, bytes] = {}
    for message in read_between(settings, starts, ends):
        key, value = message.key() or b"", message.value()
        if value is None:
            latest.pop(key, None)
        else:
            latest[key] = value
    return latest


def read_all(settings: Settings, topic: str, ends: Offsets | None = None) -> Iterator[bytes]:
    """Every committed value of a topic, up to these ends, or the topic's ends at the call.

    Raises UnknownTopic, and TimeoutError as read_between does.
    """
    found = read_end_offsets(create_admin(settings), [topic]) if ends is None else ends
    for message in read_between(settings, {}, found):
        value = message.value()
        if value is not None:
            yield value


def _get_place(message: Message) -> tuple[Partition, int]:
    """The record's partition and offset. Raises KafkaException for an error."""
    error = message.error()
    if error is not None:
        raise KafkaException(error)
    return (str(message.topic()), int(message.partition() or 0)), int(message.offset() or 0)


def _find_unread(reader: Consumer, waiting: Offsets) -> dict[Partition, int]:
    """The partitions whose end has not been reached.

    It asks for positions: the end may be a transaction's marker, or compacted away.
    """
    position = reader.position([TopicPartition(*at) for at in waiting])
    places = {(at.topic, at.partition): at.offset for at in position}
    return {at: end for at, end in waiting.items() if places[at] < end}
