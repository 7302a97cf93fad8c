"""Reads the simulator's last records back from the log."""

from collections.abc import Callable, Iterator

from confluent_kafka import Consumer, Message, TopicPartition

from generators.publisher import NUMBER_BYTES
from generators.resume import Published
from infra.errors import UserError
from infra.kafka import (
    Partition,
    create_admin,
    create_consumer,
    read_assigned,
    read_high_watermarks,
    read_start_offsets,
)
from infra.settings import Settings

SEQUENCE = "sequence"
"""The header with the number of the simulator's record in its partition."""
CHUNK_RECORDS = 250  # of each partition, backwards from its end; doubled each time
CHUNK_RECORDS_MAX = 16_000
IDLE_SECONDS_MAX = 30.0


def find_last_published(
    settings: Settings,
    topics: list[str],
    header: str,
    is_own: Callable[[Message], bool] = lambda _: True,
) -> dict[Partition, Message]:
    """The last own record with the header, of each partition of the topics that has one.

    Others may publish to the same topics: their records do not have the simulator's headers. A
    record behind their open transactions is in the log, though nobody may read it yet.
    """
    client = create_admin(settings)
    starts, ends = read_start_offsets(client, topics), read_high_watermarks(client, topics)
    reader = create_consumer(
        settings, enable_partition_eof=True, isolation_level="read_uncommitted"
    )
    messages: dict[Partition, Message] = {}
    chunk_records = CHUNK_RECORDS
    try:
        while stretches := {
            partition: (max(starts[partition], end - chunk_records), end)
            for partition, end in ends.items()
            if partition not in messages and end > starts[partition]
        }:
            for message in _read_records(reader, stretches):
                if get_header(message, header) is not None and is_own(message):
                    messages[message.topic() or "", message.partition() or 0] = message
            ends = {partition: begin for partition, (begin, _) in stretches.items()}
            chunk_records = min(2 * chunk_records, CHUNK_RECORDS_MAX)
    finally:
        reader.close()
    return messages


def parse_published(message: Message) -> Published:
    _, timestamp_ms = message.timestamp()
    return Published(
        timestamp_ms,
        int.from_bytes(get_header(message, SEQUENCE) or b"", "big"),
        message.key() or b"",
        message.value() or b"",
    )


def is_numbered(message: Message) -> bool:
    """Whether the record has a number as the simulator writes it."""
    return len(get_header(message, SEQUENCE) or b"") == NUMBER_BYTES


def get_header(message: Message, name: str) -> bytes | None:
    value = dict(message.headers() or ()).get(name)
    return value if isinstance(value, bytes) else None


def _read_records(
    reader: Consumer, stretches: dict[Partition, tuple[int, int]]
) -> Iterator[Message]:
    """The records from a first offset to before the last, in order within a partition.

    Raises UserError.
    """
    ends = {partition: end for partition, (_, end) in stretches.items()}
    reader.assign(
        [TopicPartition(*partition, begin) for partition, (begin, _) in stretches.items()]
    )
    try:
        yield from read_assigned(reader, ends, IDLE_SECONDS_MAX)
    except TimeoutError as error:
        raise UserError(
            f"The ends of the log should come within {IDLE_SECONDS_MAX:g} s, "
            f"but do not: {stretches}. See what the broker does: make logs COMPONENT=broker"
        ) from error
