"""Reads records from the log: one at a place, or all from a time on."""

from collections.abc import Callable, Iterator

from confluent_kafka import TopicPartition

from infra.errors import UserError
from infra.kafka import (
    Offsets,
    Record,
    create_admin,
    create_consumer,
    read_between,
    read_end_offsets,
    to_record,
)
from infra.settings import Settings

ANSWER_SECONDS_MAX = 30.0
REPORT_EVERY = 1_000

Report = Callable[[int, int], None]
"""Called with the number of records read, and of all records."""


class NoRecord(UserError):
    """The log has no record at the place."""

    def __init__(self, topic: str, partition: int, offset: int, why: str) -> None:
        super().__init__(
            f"Expected a record at {topic}/{partition}/{offset}, but {why}. "
            "See what was rejected: GET /v1/quarantine"
        )


def read_record(settings: Settings, topic: str, partition: int, offset: int) -> Record:
    """The record at the place. Raises NoRecord, UnknownTopic and TimeoutError."""
    end = read_end_offsets(create_admin(settings), [topic]).get((topic, partition))
    if end is None:
        raise NoRecord(topic, partition, offset, "the topic has no such partition")
    if not 0 <= offset < end:
        raise NoRecord(topic, partition, offset, f"the partition ends at {end}")
    at = (topic, partition)
    for record in _read_between(settings, {at: offset}, {at: offset + 1}, lambda *_: None):
        if record.offset == offset:
            return record
    raise NoRecord(topic, partition, offset, "the log has dropped it")


def read_since(settings: Settings, topic: str, since_ms: int, report: Report) -> Iterator[Record]:
    """Every record of the topic up to its current end, from a time on.

    Each partition begins with its first record with this timestamp or a later one. Raises
    UnknownTopic and TimeoutError.
    """
    ends = read_end_offsets(create_admin(settings), [topic])
    reader = create_consumer(settings)
    try:
        asked = [TopicPartition(*at, max(since_ms, 0)) for at in ends]
        places = reader.offsets_for_times(asked, timeout=ANSWER_SECONDS_MAX)
    finally:
        reader.close()
    # A negative offset: there is no record since.
    starts = {(at.topic, at.partition): at.offset for at in places if at.offset >= 0}
    yield from _read_between(settings, starts, ends, report)


def _read_between(
    settings: Settings,
    starts: Offsets,
    ends: Offsets,
    report: Report,
) -> Iterator[Record]:
    wanted = {at: ends[at] for at in starts}
    total = sum(max(0, end - starts[at]) for at, end in wanted.items())
    for read, message in enumerate(read_between(settings, starts, wanted), 1):
        yield to_record(message)
        if read % REPORT_EVERY == 0 or read == total:
            report(read, total)
