"""The log as the materializer reads it: assigned partitions, from offsets of its own."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)

from contracts import Contract, Row
from contracts.consumer import create_reader
from infra.kafka import (
    Offsets,
    Partition,
    UnknownTopic,
    consume_arrived,
    create_admin,
    create_consumer,
    list_partitions,
    read_end_offsets,
    read_start_offsets,
)
from infra.kafka.errors import get_error_code
from infra.settings import Settings
from ops.control.reading import Place, Reader
from services.api.turns import give_way

RECORDS_PER_READ_MAX = 2_000
WAIT_SECONDS = 0.5  # how long a read waits for a first record; a record ends the wait at once
REQUEST_SECONDS_MAX = 10.0

READER = Reader(create_reader("api"))
"""Reads the fields that contracts/consumers/api.yaml declares, and no others."""


@dataclass(frozen=True, slots=True)
class Record:
    partition: Partition
    offset: int
    key: bytes
    value: bytes | None
    published_ms: int = 0  # the record's timestamp

    @property
    def place(self) -> Place:
        return *self.partition, self.offset


@dataclass(frozen=True, slots=True)
class End:
    """The present end of a partition; the offset is the next record's."""

    partition: Partition
    offset: int


class OffsetGone(Exception):
    """The log does not hold the offset to continue from: not any more, or not yet."""


@dataclass(frozen=True)
class Extent:
    """The ids that Kafka gave the topics, and the first and end offsets of their partitions."""

    ids: Mapping[str, str]
    starts: Offsets
    ends: Offsets


class Changelog:
    """The log of Kafka, for a fixed set of topics."""

    def __init__(self, settings: Settings, topics: Iterable[str]) -> None:
        self._admin = create_admin(settings)
        self._topics = sorted(set(topics))
        self._paused: set[Partition] = set()
        self._consumer: Consumer = create_consumer(
            settings,
            enable_partition_eof=True,
            # A missing offset means another log; a silent restart would hide that.
            auto_offset_reset="error",
            fetch_queue_backoff_ms=5,
            fetch_error_backoff_ms=50,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def read_ids(self) -> dict[str, str]:
        """The id that Kafka gave each topic when it was made; raises UnknownTopic."""
        answers = self._admin.describe_topics(
            TopicCollection(self._topics), request_timeout=REQUEST_SECONDS_MAX
        )
        ids = {}
        for topic, future in answers.items():
            try:
                ids[topic] = str(future.result(timeout=REQUEST_SECONDS_MAX).topic_id)
            except KafkaException as error:
                if get_error_code(error) == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise UnknownTopic(topic) from error
                raise
        return ids

    def read_extent(self) -> Extent:
        """Raises UnknownTopic when one of the topics is not there yet."""
        return Extent(
            ids=self.read_ids(),
            starts=read_start_offsets(self._admin, self._topics),
            ends=read_end_offsets(self._admin, self._topics),
        )

    def start(self, offsets: Offsets) -> None:
        """Read from these offsets; read unnamed partitions from their beginning."""
        self._paused.clear()
        every = list_partitions(self._admin, self._topics)
        self._consumer.assign(
            [TopicPartition(*partition, offsets.get(partition, 0)) for partition in every]
        )

    def read(self) -> list[Record | End]:
        """The records that have arrived, in order within a partition; none after WAIT_SECONDS.

        Raises OffsetGone, and KafkaException for an error that a retry does not cure.
        """
        messages = give_way(consume_arrived(self._consumer, RECORDS_PER_READ_MAX, WAIT_SECONDS))
        return [each for message in messages if (each := _read(message)) is not None]

    def pause(self, full: Collection[Partition]) -> None:
        """Pause these partitions and resume all others."""
        wanted = set(full)
        if wanted == self._paused:
            return
        self._consumer.pause([TopicPartition(*partition) for partition in wanted - self._paused])
        self._consumer.resume([TopicPartition(*partition) for partition in self._paused - wanted])
        self._paused = wanted


def follow(
    log: Changelog, extent: Extent, start: Offsets, is_over: Callable[[], bool]
) -> Iterator[tuple[Sequence[Record | End], bool]]:
    """What arrives from these offsets on, and whether every partition was read to its end once."""
    log.start(start)
    unread = set(extent.starts)
    while not is_over():
        arrived = log.read()
        unread -= {each.partition for each in arrived if isinstance(each, End)}
        yield arrived, not unread


def read_row(contract: Contract, record: Record, reader: Reader = READER) -> Row | None:
    """The record's value; None for a record that is set aside. Raises NewerSchema."""
    return reader.read(contract, record.place, record.key, record.value, record.published_ms)


def _read(message: Message) -> Record | End | None:
    """None for an error that waiting cures: the client itself retries an absent broker."""
    error = message.error()
    topic, partition, offset = (
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
    )
    if error is None:
        key, published_ms = message.key() or b"", message.timestamp()[1]
        return Record((topic, partition), offset, key, message.value(), published_ms)
    if error.code() == KafkaError._PARTITION_EOF:
        return End((topic, partition), offset)
    if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
        raise OffsetGone(f"{topic}: the offset to go on from is gone: {error.str()}")
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        raise OffsetGone(f"{topic} is no longer there")
    if error.fatal():
        raise KafkaException(error)
    return None
