"""The backlog: the part of the log that a generation has not read yet."""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from contracts import HEARTBEATS
from infra.kafka import (
    EndOffsets,
    Offsets,
    Partition,
    consume_arrived,
    create_admin,
    create_consumer,
    read_end_offsets,
    read_newest_ms,
    read_start_offsets,
)
from infra.settings import Settings
from pipelines.engine.beats import BeatLimit

READ_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Backlog:
    """The unread part of the log, and the world time between its first and its last record."""

    records: int
    """The number of its offsets: as many records, or a few less."""
    span: timedelta


def measure_backlog(
    settings: Settings, topics: Iterable[str], read: Offsets, limit: BeatLimit
) -> Backlog:
    """What lies between the offsets already read and the log's end.

    `limit`: of the heartbeats that move the watermark.

    The first unread records of the partitions stand for the oldest one: the timestamps of a
    partition only grow, except for records that are late within the horizon.
    """
    names = tuple(topics)
    client = create_admin(settings)
    starts, ends = read_start_offsets(client, names), read_end_offsets(client, names)
    unread = {partition: max(read.get(partition, 0), starts[partition]) for partition in ends}
    waiting = {partition: first for partition, first in unread.items() if first < ends[partition]}
    if not waiting:
        return Backlog(0, timedelta())
    records = sum(ends[partition] - first for partition, first in waiting.items())
    oldest_ms, newest_ms = find_oldest_ms(settings, waiting), read_world_ms(client, names, limit)
    if oldest_ms is None or newest_ms is None:
        return Backlog(records, timedelta())
    return Backlog(records, max(timedelta(milliseconds=newest_ms - oldest_ms), timedelta()))


class HeldBack:
    """What open transactions hold back in some topics: records that nobody may read yet."""

    def __init__(self, settings: Settings, topics: Iterable[str], limit: BeatLimit) -> None:
        """`limit`: of the heartbeats that move the watermark."""
        self._settings = settings
        self._limit = limit
        self._names = tuple(topics)
        self._client = create_admin(settings)
        self._ends = EndOffsets(self._client, patient=True)
        self._marks = EndOffsets(
            self._client, patient=True, isolation=IsolationLevel.READ_UNCOMMITTED
        )

    def measure(self) -> timedelta:
        """The world time from the first of these records to the newest heartbeat, which moves the
        watermark; zero without any.
        """
        marks = self._marks.read(self._names)  # first: the ends may only be further then
        ends = self._ends.read(self._names)
        held = {partition: end for partition, end in ends.items() if end < marks.get(partition, 0)}
        if not held:
            return timedelta()
        oldest_ms = find_oldest_ms(self._settings, held, "read_uncommitted")
        newest_ms = read_world_ms(self._client, [HEARTBEATS.name], self._limit)
        if oldest_ms is None or newest_ms is None:
            return timedelta()
        return timedelta(milliseconds=newest_ms - oldest_ms)


def read_world_ms(client: AdminClient, topics: Collection[str], limit: BeatLimit) -> int | None:
    """World time by the newest heartbeat, or by the newest record while there is none.

    Only heartbeats move the watermark, and none beyond its limit: one of another year counts as the
    limit. The end of a transaction carries the wall clock, so the largest timestamp of a topic in
    which others publish may be no record's.
    """
    beats = read_newest_ms(client, [HEARTBEATS.name]) if HEARTBEATS.name in topics else {}
    if beats:
        return min(max(beats.values()), limit.find_ms())
    return max(read_newest_ms(client, topics).values(), default=None)


def find_oldest_ms(
    settings: Settings, waiting: Offsets, isolation: str = "read_committed"
) -> int | None:
    """The smallest timestamp among the first unread records; None: there are only gaps."""
    reader = create_consumer(
        settings,
        enable_partition_eof=True,
        max_partition_fetch_bytes=16_384,
        isolation_level=isolation,
    )
    try:
        reader.assign([TopicPartition(*partition, offset) for partition, offset in waiting.items()])
        return min(read_first_timestamps(reader, waiting).values(), default=None)
    finally:
        reader.close()


def read_first_timestamps(reader: Consumer, assigned: Iterable[Partition]) -> dict[Partition, int]:
    """The timestamp of the next record of each partition that has one."""
    timestamps: dict[Partition, int] = {}
    left = set(assigned)
    deadline = time.monotonic() + READ_SECONDS_MAX
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"The first unread record of {sorted(left)} should come within "
                f"{READ_SECONDS_MAX:g} s, but does not. See: make logs COMPONENT=broker"
            )
        for message in consume_arrived(reader, 1_000, 0.1):
            error = message.error()
            partition = (str(message.topic()), int(message.partition() or 0))
            if error is None:
                timestamps.setdefault(partition, message.timestamp()[1])
            elif error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            left.discard(partition)
    return timestamps
