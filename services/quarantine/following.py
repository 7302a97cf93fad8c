"""Reading every public topic, and copying what is rejected: first the copy, then the commit.

A process that dies in between copies some records again, under the same keys: nothing changes.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from threading import Event

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import QUARANTINE, encode, key
from contracts.judging import JUDGED
from infra.kafka import Outgoing, Partition, admin, consumer, partitions, producer, send_all
from infra.settings import Settings
from services.clock import wall_ms
from services.quarantine.progress import GROUP, Progress, commit, committed
from services.quarantine.reading import as_record
from services.quarantine.records import Record, rejected

RECORDS_PER_BATCH_MAX = 2_000
BATCH_SECONDS = 0.5
"""How long a batch waits to be full."""
SIGN_SECONDS = 10.0
"""How often it says that it is there when there is nothing to read."""

Offsets = Mapping[Partition, int]

log = logging.getLogger("quarantine")


def follow(settings: Settings, stop: Event) -> None:
    """Read on from what was committed, until told to stop.

    Raises NewerSchema, NotDelivered, UnknownTopic, and KafkaException.
    """
    reader = consumer(settings, GROUP, queued_max_messages_kbytes=8_192)
    client = producer(settings, message_max_bytes=QUARANTINE.settings.config["max.message.bytes"])
    try:
        offsets = dict(committed(reader, partitions(admin(settings), JUDGED)).offsets)
        reader.assign([TopicPartition(*at, offset) for at, offset in offsets.items()])
        log.info("%d partitions, on from %d records", len(offsets), sum(offsets.values()))
        due = time.monotonic()
        while not stop.is_set():
            batch = read(reader)
            copied = copy(client, batch)
            offsets |= {(one.topic, one.partition): one.offset + 1 for one in batch}
            if batch or time.monotonic() >= due:
                due = time.monotonic() + (SIGN_SECONDS if said(reader, offsets) else 0)
            if copied:
                log.info("%d of %d records rejected", copied, len(batch))
    finally:
        reader.close()


def said(reader: Consumer, offsets: Offsets) -> bool:
    """Commit; what fails is said again with the next batch."""
    try:
        commit(reader, Progress(offsets, wall_ms()))
    except KafkaException as error:
        log.warning("not committed yet: %s", error)
        return False
    return True


def read(reader: Consumer) -> Sequence[Record]:
    """The next records, in order within a partition; what only time cures is waited for."""
    found = []
    for message in reader.consume(RECORDS_PER_BATCH_MAX, timeout=BATCH_SECONDS):
        error = message.error()
        if error is None:
            found.append(as_record(message))
        elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return found


def copy(client: Producer, batch: Sequence[Record]) -> int:
    """Send the rejected ones and wait until all are acknowledged; returns how many."""
    rows = [(one, row) for one in batch if (row := rejected(one)) is not None]
    send_all(
        client,
        [
            Outgoing(
                QUARANTINE.name,
                key(QUARANTINE, row),
                encode(QUARANTINE, row),
                timestamp_ms=max(one.published_ms, 1),  # 0 would be the time of sending
            )
            for one, row in rows
        ],
    )
    return len(rows)
