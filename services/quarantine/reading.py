"""Reading the log record by record: one at its place, or all from a time on."""

from collections.abc import Callable, Iterator, Mapping

from confluent_kafka import Message, TopicPartition

from infra.errors import Trouble
from infra.kafka import Partition, admin, consumer, end_offsets, read_between
from infra.settings import Settings
from services.quarantine.records import Record

ANSWER_SECONDS_MAX = 30.0
SHOWN_EVERY = 1_000

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

    Raises UnknownTopic, and TimeoutError as read_between does.
    """
    ends = end_offsets(admin(settings), [topic])
    reader = consumer(settings)
    try:
        asked = [TopicPartition(*at, max(since_ms, 0)) for at in ends]
        found = reader.offsets_for_times(asked, timeout=ANSWER_SECONDS_MAX)
    finally:
        reader.close()
    # A negative offset: nothing was published since.
    starts = {(at.topic, at.partition): at.offset for at in found if at.offset >= 0}
    yield from _between(settings, starts, ends, show)


def _between(
    settings: Settings, starts: Mapping[Partition, int], ends: Mapping[Partition, int], show: Show
) -> Iterator[Record]:
    wanted = {at: ends[at] for at in starts}
    total = sum(max(0, end - starts[at]) for at, end in wanted.items())
    for read, message in enumerate(read_between(settings, starts, wanted), 1):
        yield as_record(message)
        if read % SHOWN_EVERY == 0 or read == total:
            show(read, total)


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
