"""Reading the log record by record: one at its place, or all from a time on."""

import time
from collections.abc import Callable, Iterator, Mapping

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from infra.errors import Trouble
from infra.kafka import Partition, admin, consumer, end_offsets
from infra.settings import Settings
from services.quarantine.records import Record

IDLE_SECONDS_MAX = 30.0
POLL_SECONDS = 0.1
RECORDS_PER_POLL_MAX = 5_000

Show = Callable[[int, int], None]
"""Is told how many records are read, of how many."""


class NoRecord(Trouble):
    """There is nothing at the place."""

    def __init__(self, topic: str, partition: int, offset: int, why: str) -> None:
        super().__init__(
            f"Expected a record at {topic}/{partition}/{offset}, but {why}. "
            "See what was rejected: retail quarantine list"
        )


def record_at(settings: Settings, topic: str, partition: int, offset: int) -> Record:
    """The record at the place. Raises NoRecord, UnknownTopic and TimeoutError."""
    end = end_offsets(admin(settings), [topic]).get((topic, partition))
    if end is None:
        raise NoRecord(topic, partition, offset, "the topic has no such partition")
    if not 0 <= offset < end:
        raise NoRecord(topic, partition, offset, f"the partition ends at {end}")
    at = (topic, partition)
    for record in _between(settings, {at: offset}, {at: offset + 1}, lambda *_: None):
        if record.offset == offset:
            return record
    raise NoRecord(topic, partition, offset, "the log has dropped it")


def records_since(settings: Settings, topic: str, since_ms: int, show: Show) -> Iterator[Record]:
    """Every record of the topic, up to its present end, but for those before the first of their
    partition that was published at this time or later.

    Raises UnknownTopic, and TimeoutError when Kafka says nothing for IDLE_SECONDS_MAX.
    """
    ends = end_offsets(admin(settings), [topic])
    reader = consumer(settings)
    try:
        asked = [TopicPartition(*at, max(since_ms, 0)) for at in ends]
        found = reader.offsets_for_times(asked, timeout=IDLE_SECONDS_MAX)
    finally:
        reader.close()
    # A negative offset: nothing was published since.
    starts = {(at.topic, at.partition): at.offset for at in found if at.offset >= 0}
    yield from _between(settings, starts, ends, show)


def _between(
    settings: Settings, starts: Mapping[Partition, int], ends: Mapping[Partition, int], show: Show
) -> Iterator[Record]:
    waiting = {at: ends[at] for at, start in starts.items() if start < ends[at]}
    total = sum(ends[at] - starts[at] for at in waiting)
    reader = consumer(settings)
    try:
        reader.assign([TopicPartition(*at, starts[at]) for at in waiting])
        read, deadline = 0, time.monotonic() + IDLE_SECONDS_MAX
        while waiting:
            messages = reader.consume(RECORDS_PER_POLL_MAX, timeout=POLL_SECONDS)
            if messages:
                deadline = time.monotonic() + IDLE_SECONDS_MAX
            elif time.monotonic() > deadline:
                raise TimeoutError(
                    f"Kafka should send the rest of {sorted(waiting)} within "
                    f"{IDLE_SECONDS_MAX:g} s, but does not. See: make logs COMPONENT=broker"
                )
            for record in map(_good, messages):
                if record.offset < ends[record.topic, record.partition]:
                    read += 1
                    yield record
            show(read, total)
            waiting = _unread(reader, waiting)
    finally:
        reader.close()


def _unread(reader: Consumer, waiting: Mapping[Partition, int]) -> dict[Partition, int]:
    """The partitions whose end has not been reached; a gap in the offsets does not matter."""
    position = reader.position([TopicPartition(*at) for at in waiting])
    return {
        (at.topic, at.partition): waiting[at.topic, at.partition]
        for at in position
        if at.offset < waiting[at.topic, at.partition]
    }


def _good(message: Message) -> Record:
    error = message.error()
    if error is not None:
        raise KafkaException(error)
    return as_record(message)


def as_record(message: Message) -> Record:
    headers = message.headers() or []
    pairs = headers.items() if isinstance(headers, dict) else headers
    return Record(
        topic=str(message.topic()),
        partition=int(message.partition() or 0),
        offset=int(message.offset() or 0),
        published_ms=message.timestamp()[1],
        key=message.key(),
        value=message.value(),
        headers=[(name, as_bytes(value)) for name, value in pairs],
    )


def as_bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
