"""Reading a small compacted topic as the table that it is."""

import time
from collections.abc import Iterator, Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.kafka.clients import admin, consumer
from infra.kafka.offsets import Partition, end_offsets, start_offsets
from infra.settings import Settings

READ_SECONDS_MAX = 30.0
POLL_SECONDS = 0.1
RECORDS_PER_POLL_MAX = 1_000


def read_to_end(
    settings: Settings,
    topic: str,
    *,
    seconds_max: float = READ_SECONDS_MAX,
    records_max: int | None = None,
) -> dict[bytes, bytes]:
    """The latest value of every key in a compacted topic, up to its end when the read began.

    With `records_max`, only the keys among so many last offsets of each partition.
    Raises UnknownTopic, and TimeoutError when the end is not reached in time.
    """
    client = admin(settings)
    ends = {partition: end for (_, partition), end in end_offsets(client, [topic]).items()}
    starts = {partition: at for (_, partition), at in start_offsets(client, [topic]).items()}
    if records_max is not None:
        starts = {
            partition: max(at, ends[partition] - records_max) for partition, at in starts.items()
        }
    left = [partition for partition, end in ends.items() if end > starts[partition]]
    latest: dict[bytes, bytes] = {}
    deadline = time.monotonic() + seconds_max
    reader = consumer(settings)
    try:
        reader.assign([TopicPartition(topic, partition, starts[partition]) for partition in left])
        while left:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{topic} should be read to its end within {seconds_max:g} s, but partitions "
                    f"{left} were not. See what the broker does: make logs COMPONENT=broker"
                )
            _read_some(reader, latest)
            # Positions, not records: the end may be a transaction's marker or compacted away.
            position = reader.position([TopicPartition(topic, partition) for partition in left])
            left = [at.partition for at in position if at.offset < ends[at.partition]]
    finally:
        reader.close()
    return latest


def read_all(
    settings: Settings,
    topic: str,
    ends: Mapping[Partition, int] | None = None,
    *,
    seconds_max: float = READ_SECONDS_MAX,
) -> Iterator[bytes]:
    """Every committed value of a topic, up to these ends, or its ends when the read began.

    Raises UnknownTopic, and TimeoutError when the ends are not reached in time.
    """
    found = end_offsets(admin(settings), [topic]) if ends is None else ends
    waiting = {at: end for at, end in found.items() if end > 0}
    deadline = time.monotonic() + seconds_max
    reader = consumer(settings)
    try:
        reader.assign([TopicPartition(*at, 0) for at in waiting])
        while waiting:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{topic} should be read to its end within {seconds_max:g} s, but partitions "
                    f"{sorted(waiting)} were not. See: make logs COMPONENT=broker"
                )
            for message in reader.consume(RECORDS_PER_POLL_MAX, timeout=POLL_SECONDS):
                if message.error() is not None:
                    raise KafkaException(message.error())
                at, value = (str(message.topic()), int(message.partition() or 0)), message.value()
                if value is not None and int(message.offset() or 0) < found[at]:
                    yield value
            position = reader.position([TopicPartition(*at) for at in waiting])
            places = {(at.topic, at.partition): at.offset for at in position}
            waiting = {at: end for at, end in waiting.items() if places[at] < end}
    finally:
        reader.close()


def _read_some(reader: Consumer, latest: dict[bytes, bytes]) -> None:
    for message in reader.consume(RECORDS_PER_POLL_MAX, timeout=POLL_SECONDS):
        error = message.error()
        if error is not None:
            raise KafkaException(error)
        key, value = message.key() or b"", message.value()
        if value is None:
            latest.pop(key, None)
        else:
            latest[key] = value
