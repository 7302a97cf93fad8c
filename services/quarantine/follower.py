"""Reads every public topic and copies rejected records: first the copy, then the commit.

After a crash in between, the next process copies some records again, under the same keys, so
nothing changes.
"""

import logging
from collections.abc import Sequence
from threading import Event

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from contracts import QUARANTINE, RELEASES, Row, encode, encode_key
from contracts.checks import order_checks
from contracts.times import to_instant
from contracts.validation import VALIDATED, Rejection, validate
from infra.kafka import (
    Offsets,
    Outgoing,
    Partition,
    Record,
    create_admin,
    create_consumer,
    create_producer,
    fetch_committed,
    list_partitions,
    send_all,
    to_record,
)
from infra.settings import Settings
from ops.control.reading import refuse_newer
from services import liveness

GROUP = "quarantine"
RECORDS_PER_BATCH_MAX = 2_000
BATCH_SECONDS = 0.5
"""How long a batch waits for more records."""
BATCH_BYTES = 65_536
"""The broker waits for so many bytes: else it would answer with each record by itself."""
FOUND_MAX, EVENT_ID_MAX = 500, 300
"""Characters, by the contract. The value has the whole text."""
ROOM_BYTES = 10_000
"""Room for the bytes that Kafka adds to a value: the key and the batch."""
VALUE_BYTES_MAX = int(QUARANTINE.settings.config["max.message.bytes"]) - ROOM_BYTES
BEGIN_MS, END_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""

log = logging.getLogger("quarantine")


def follow(settings: Settings, stop: Event) -> None:
    """Read from the committed offsets on, until `stop` is set.

    Raises NewerSchema, NotDelivered, UnknownTopic, TimeoutError, and KafkaException.
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
        offsets = dict(read_committed(reader, settings))
        reader.assign([TopicPartition(*partition, offset) for partition, offset in offsets.items()])
        log.info("%d partitions, on from %d records", len(offsets), sum(offsets.values()))
        liveness.report_start(settings, "quarantine")
        is_further = False
        while not stop.is_set():
            batch, reached = read_batch(reader)
            copied = copy_rejected(client, batch)
            is_further = is_further or not reached.items() <= offsets.items()
            offsets |= reached
            if is_further:
                try:
                    commit(reader, offsets)
                    is_further = False
                except KafkaException as error:  # the next batch commits again
                    log.warning("not committed yet: %s", error)
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
        partition, offset = (
            (str(message.topic()), int(message.partition() or 0)),
            message.offset() or 0,
        )
        if error is None:
            records.append(to_record(message))
            reached[partition] = offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:
            reached[partition] = offset
        elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return records, reached


def copy_rejected(client: Producer, batch: Sequence[Record]) -> int:
    """Send the rejected records and wait for all acknowledgements. Returns their number."""
    rows = [(record, row) for record in batch if (row := create_row(record)) is not None]
    send_all(
        client,
        [
            Outgoing(
                QUARANTINE.name,
                encode_key(QUARANTINE, row),
                encode(QUARANTINE, row),
                timestamp_ms=max(record.published_ms, 1),  # 0 would be the time of sending
            )
            for record, row in rows
        ],
    )
    return len(rows)


def create_row(record: Record) -> Row | None:
    """The row of a record in the quarantine, times in epoch milliseconds.

    None for an accepted record. Raises NewerSchema.
    """
    contract = VALIDATED[record.topic]
    found = validate(contract, record.key, record.value, record.published_ms, record.partition)
    if not isinstance(found, Rejection):
        return None
    refuse_newer(contract, record.value)
    if contract is RELEASES and found.event is not None:
        original = VALIDATED.get(found.event["topic"])
        if original is not None:
            refuse_newer(original, found.event["value"])
    return _build_row(record, found)


def _build_row(record: Record, found: Rejection) -> Row:
    event = found.event or {}
    happened = event.get(VALIDATED[record.topic].event_time or "")
    identity = event.get("event_id")
    whole = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "reason": found.reason,
        "found": found.found[:FOUND_MAX],
        "published_at": min(max(record.published_ms, BEGIN_MS), END_MS),
        "event_id": identity if identity and len(identity) <= EVENT_ID_MAX else None,
        "event_time": None if happened is None or to_instant(happened) is None else happened,
        "key": record.key,
        "value": record.value,
        "headers": [{"name": name, "value": value} for name, value in record.headers],
    }
    keeps_contract = all(asked.holds(whole) for asked in order_checks(QUARANTINE))
    if keeps_contract and len(encode(QUARANTINE, whole)) <= VALUE_BYTES_MAX:
        return whole
    size = len(record.key or b"") + len(record.value or b"")
    text = f"{size} bytes with {len(record.headers)} headers, too large to be copied: see its topic"
    text = f"{text}; {found.found}"[:FOUND_MAX]
    return {**whole, "found": text, "key": None, "value": None, "headers": []}


def read_progress(settings: Settings) -> Offsets:
    """The offsets below which all rejected records are in the quarantine.

    Raises UnknownTopic, TimeoutError and KafkaException.
    """
    reader = create_consumer(settings, GROUP)
    try:
        return read_committed(reader, settings)
    finally:
        reader.close()


def read_committed(reader: Consumer, settings: Settings) -> Offsets:
    every = list_partitions(create_admin(settings), VALIDATED)
    committed = fetch_committed(reader, GROUP, every)
    return {(place.topic, place.partition): max(place.offset, 0) for place in committed}


def commit(reader: Consumer, reached: Offsets) -> None:
    """Commit the progress, and wait until the broker has it."""
    reader.commit(
        offsets=[TopicPartition(*partition, offset) for partition, offset in reached.items()],
        asynchronous=False,
    )
