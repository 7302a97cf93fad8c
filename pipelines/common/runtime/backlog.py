"""The backlog: the part of the log that a generation has not read yet."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.kafka import (
    Offsets,
    Partition,
    create_admin,
    create_consumer,
    read_end_offsets,
    read_newest_ms,
    read_start_offsets,
)
from infra.settings import Settings

READ_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Backlog:
    """The unread records, and the world time between the first and the last of them."""

    records: int
    span: timedelta


def measure_backlog(settings: Settings, topics: Iterable[str], read: Offsets) -> Backlog:
    """The records between the offsets already read and the log's end.

    The first unread records of the partitions stand for the oldest one: the timestamps of a
    partition only grow, except for records that are late within the horizon.
    """
    names = tuple(topics)
    client = create_admin(settings)
    starts, ends = read_start_offsets(client, names), read_end_offsets(client, names)
    unread = {at: max(read.get(at, 0), starts[at]) for at in ends}
    waiting = {at: first for at, first in unread.items() if first < ends[at]}
    if not waiting:
        return Backlog(0, timedelta())
    records = sum(ends[at] - first for at, first in waiting.items())
    newest = to_world_time(max(read_newest_ms(client, names).values()))
    span = newest - find_oldest(settings, waiting)
    return Backlog(records, max(span, timedelta()))


def find_oldest(settings: Settings, waiting: Offsets) -> datetime:
    """The smallest timestamp among the first unread records."""
    reader = create_consumer(settings, max_partition_fetch_bytes=16_384)
    try:
        reader.assign([TopicPartition(*at, offset) for at, offset in waiting.items()])
        return to_world_time(min(read_first_timestamps(reader, len(waiting)).values()))
    finally:
        reader.close()


def read_first_timestamps(reader: Consumer, partitions: int) -> dict[Partition, int]:
    timestamps: dict[Partition, int] = {}
    deadline = time.monotonic() + READ_SECONDS_MAX
    while len(timestamps) < partitions:
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"The first unread record of {partitions} partitions should come within "
                f"{READ_SECONDS_MAX:g} s; {len(timestamps)} did. See: make logs COMPONENT=broker"
            )
        for message in reader.consume(1_000, timeout=0.1):
            error = message.error()
            if error is not None:
                raise KafkaException(error)
            at = (str(message.topic()), int(message.partition() or 0))
            timestamps.setdefault(at, message.timestamp()[1])
    return timestamps


def to_world_time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
