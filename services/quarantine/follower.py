"""Reads every public topic and copies rejected records: first the copy, then the commit.

After a crash in between, the next process copies some records again, under the same keys, so
nothing changes.
"""

import logging
import time
from collections.abc import Sequence
from threading import Event

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import QUARANTINE, encode, encode_key
from contracts.validation import VALIDATED
from infra.kafka import (
    Offsets,
    Outgoing,
    Partition,
    Record,
    create_admin,
    create_consumer,
    create_producer,
    list_partitions,
    send_all,
    to_record,
)
from infra.settings import Settings
from services.clock import get_wall_ms
from services.quarantine.progress import GROUP, Progress, commit, read_committed
from services.quarantine.records import create_row

RECORDS_PER_BATCH_MAX = 2_000
BATCH_SECONDS = 0.5
"""How long a batch waits for more records."""
BATCH_BYTES = 65_536
"""The broker waits for so many bytes: else it would answer with each record by itself."""
LIVENESS_SECONDS = 10.0
"""The interval of its commits when there is nothing to read, as a sign of life."""

log = logging.getLogger("quarantine")


def follow(settings: Settings, stop: Event) -> None:
    """Read from the committed offsets on, until `stop` is set.

    Raises NewerSchema, NotDelivered, UnknownTopic, and KafkaException.
    """
    reader = create_consumer(
        settings,
        GROUP,
        queued_max_messages_kbytes=8_192,
        enable_partition_eof=True,
        fetch_min_bytes=BATCH_BYTES,
        fetch_wait_max_ms=round(BATCH_SECONDS * 1_000),
    )
    client = create_producer(
        settings, message_max_bytes=QUARANTINE.settings.config["max.message.bytes"]
    )
    try:
        offsets = dict(
            read_committed(reader, list_partitions(create_admin(settings), VALIDATED)).offsets
        )
        reader.assign([TopicPartition(*at, offset) for at, offset in offsets.items()])
        log.info("%d partitions, on from %d records", len(offsets), sum(offsets.values()))
        due = time.monotonic()
        while not stop.is_set():
            batch, reached = read_batch(reader)
            copied = copy_rejected(client, batch)
            is_further = not reached.items() <= offsets.items()
            offsets |= reached
            if is_further or time.monotonic() >= due:
                try:
                    commit(reader, Progress(offsets, get_wall_ms()))
                    due = time.monotonic() + LIVENESS_SECONDS
                except KafkaException as error:  # the next batch commits again
                    log.warning("not committed yet: %s", error)
                    due = time.monotonic()
            if copied:
                log.info("%d of %d records rejected", copied, len(batch))
    finally:
        reader.close()


def read_batch(reader: Consumer) -> tuple[Sequence[Record], Offsets]:
    """The next records, in order within a partition, and the offsets that they reach.

    At the end of a partition that may be further than the last record: the end of a transaction
    has an offset too. It ignores temporary errors.
    """
    records, reached = [], dict[Partition, int]()
    for message in reader.consume(RECORDS_PER_BATCH_MAX, timeout=BATCH_SECONDS):
        error = message.error()
        at, offset = (str(message.topic()), int(message.partition() or 0)), message.offset() or 0
        if error is None:
            records.append(to_record(message))
            reached[at] = offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:
            reached[at] = offset
        elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return records, reached


def copy_rejected(client: Producer, batch: Sequence[Record]) -> int:
    """Send the rejected records and wait for all acknowledgements. Returns their number."""
    rows = [(one, row) for one in batch if (row := create_row(one)) is not None]
    send_all(
        client,
        [
            Outgoing(
                QUARANTINE.name,
                encode_key(QUARANTINE, row),
                encode(QUARANTINE, row),
                timestamp_ms=max(one.published_ms, 1),  # 0 would be the time of sending
            )
            for one, row in rows
        ],
    )
    return len(rows)
