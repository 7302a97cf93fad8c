"""A bounded read of the log: every record of some topics, up to given offsets."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from deltalake import DeltaTable
from pyarrow.compute import field

from contracts import CONTRACTS
from infra.errors import UserError
from infra.kafka import (
    Offsets,
    Partition,
    Record,
    create_admin,
    create_consumer,
    read_start_offsets,
    to_record,
)
from infra.lake import locate_folders
from infra.settings import Settings

IDLE_SECONDS_MAX = 30.0
RECORDS_PER_POLL_MAX = 10_000


class NotArchived(UserError):
    """Neither the log nor the archive holds some records."""

    def __init__(self, topic: str, partition: int, end: int) -> None:
        super().__init__(
            f"{topic}/{partition} begins at {end:,}: the lake's archive should hold what came "
            "before, but does not. Without it nothing can be compared with the log."
        )


def read(settings: Settings, ends: Offsets) -> Iterator[Record]:
    """Each record below the end offset of its partition, partition by partition in log order.

    Records that the log no longer holds come from the archive. Raises TimeoutError
    when the broker sends nothing for IDLE_SECONDS_MAX, and NotArchived.
    """
    starts = read_start_offsets(create_admin(settings), {topic for topic, _ in ends})
    yield from read_archive(settings, ends, starts)
    # For a partition whose records are all deleted, Kafka sends nothing, not even a position.
    waiting = {at: end for at, end in ends.items() if end > starts.get(at, 0)}
    reader = create_consumer(settings, fetch_message_max_bytes=4_194_304)
    try:
        reader.assign([TopicPartition(*at, 0) for at in waiting])
        deadline = time.monotonic() + IDLE_SECONDS_MAX
        while waiting:
            messages = reader.consume(RECORDS_PER_POLL_MAX, timeout=0.5)
            if messages:
                deadline = time.monotonic() + IDLE_SECONDS_MAX
            elif time.monotonic() > deadline:
                raise TimeoutError(f"Kafka should send the rest of {sorted(waiting)}, but does not")
            for message in messages:
                record = to_record(message)
                if record.offset < ends[record.topic, record.partition]:
                    yield record
            waiting = find_unread(reader, waiting)
    finally:
        reader.close()


def read_archive(settings: Settings, ends: Offsets, starts: Offsets) -> Iterator[Record]:
    """The records that only the archive holds, of the topics that it keeps."""
    gone = {
        at: min(start, ends[at])
        for at, start in starts.items()
        if start and at in ends and is_archived(at[0])
    }
    if not gone:
        return
    table = DeltaTable(str(locate_folders(settings).bronze))
    commits = [json.loads(one["userMetadata"]) for one in table.history() if "userMetadata" in one]
    for at, end in gone.items():
        topic, partition = at
        if not commits or commits[0]["ends"].get(topic, {}).get(str(partition), 0) < end:
            raise NotArchived(topic, partition, end)
        here = (field("topic") == topic) & (field("partition") == partition)
        records = table.to_pyarrow_dataset().to_table(filter=here & (field("offset") < end))
        yield from map(parse_archived, records.sort_by("offset").to_pylist())


def is_archived(topic: str) -> bool:
    """Whether the lake keeps the topic."""
    contract = CONTRACTS.get(topic)
    return contract is not None and contract.kind == "topic" and contract.visibility == "public"


def parse_archived(row: Mapping[str, Any]) -> Record:
    return Record(
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
        published_ms=round(row["timestamp"].timestamp() * 1000),
        key=row["key"],
        value=row["value"],
        headers=[(header["key"], header["value"]) for header in row["headers"] or ()],
    )


def number_records(records: Iterable[Record]) -> Iterator[tuple[Record, int | None]]:
    """Each record with its number among the simulator's in its partition; None for other records.

    Of a record that Kafka stored twice, only the first has a number. A killed broker may lose a
    batch, and store it again for a producer without an acknowledgement.
    """
    reached: Counter[Partition] = Counter()
    for record in records:
        at = record.topic, record.partition
        header = dict(record.headers).get("sequence")
        number = int.from_bytes(header, "big") if header is not None else None
        if number is not None and number < reached[at]:
            number = None
        if number is not None:
            reached[at] = number + 1
        yield record, number


def find_unread(reader: Consumer, waiting: Offsets) -> dict[Partition, int]:
    """The partitions whose end the reader has not reached; offsets may have gaps."""
    position = reader.position([TopicPartition(*at) for at in waiting])
    return {
        (at.topic, at.partition): waiting[at.topic, at.partition]
        for at in position
        if at.offset < waiting[at.topic, at.partition]
    }
