"""A bounded read of the log: every record of some topics, up to given offsets."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deltalake import DeltaTable
from pyarrow.compute import field

from contracts import CONTRACTS, Contract, Row
from infra.errors import UserError
from infra.kafka import (
    Offsets,
    Partition,
    Record,
    create_admin,
    read_between,
    read_end_offsets,
    read_start_offsets,
    to_record,
)
from infra.lake import locate_folders
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS

FETCH_BYTES_MAX = 4_194_304


def read(settings: Settings, ends: Offsets) -> Iterator[Record]:
    """Each committed record below the end offset of its partition, each partition in log order.

    Records that the log no longer holds come from the archive. Raises TimeoutError as
    `read_between`, and UserError.
    """
    starts = read_start_offsets(create_admin(settings), {topic for topic, _ in ends})
    yield from read_archive(settings, ends, starts)
    # For a partition whose records are all deleted, Kafka sends nothing, not even a position.
    waiting = {partition: end for partition, end in ends.items() if end > starts.get(partition, 0)}
    large = {"fetch_message_max_bytes": FETCH_BYTES_MAX}
    yield from map(to_record, read_between(settings, {}, waiting, **large))


def read_topic(settings: Settings, topic: str) -> Iterator[Record]:
    """As `read`, up to the topic's present end."""
    return read(settings, read_end_offsets(create_admin(settings), [topic]))


def read_archive(settings: Settings, ends: Offsets, starts: Offsets) -> Iterator[Record]:
    """The records that only the archive holds, of the topics that it keeps."""
    gone = {
        partition: min(start, ends[partition])
        for partition, start in starts.items()
        if start and partition in ends and is_archived(partition[0])
    }
    if not gone:
        return
    table = DeltaTable(str(locate_folders(settings).bronze))
    notes = (version.get("userMetadata") for version in table.history())
    commits = [json.loads(note) for note in notes if note is not None]
    for (topic, partition), end in gone.items():
        if not commits or commits[0]["ends"].get(topic, {}).get(str(partition), 0) < end:
            raise UserError(
                f"{topic}/{partition} begins at {end:,}: the lake's archive should hold what came "
                "before, but does not. Without it nothing can be compared with the log."
            )
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


def read_simulated(settings: Settings, contract: Contract) -> Iterator[tuple[int, Row]]:
    """The simulator's rows in a topic, each with its partition."""
    for record, number in number_records(read_topic(settings, contract.name)):
        row = ALL_FIELDS.read_record(contract, record)
        if number is not None and row is not None:
            yield record.partition, row


def number_records(records: Iterable[Record]) -> Iterator[tuple[Record, int | None]]:
    """Each record with its number among the simulator's in its partition; None for other records.

    Of a record that Kafka stored twice, only the first has a number. A killed broker may lose a
    batch, and store it again for a producer without an acknowledgement.
    """
    reached: Counter[Partition] = Counter()
    for record in records:
        partition = record.topic, record.partition
        header = dict(record.headers).get("sequence")
        number = int.from_bytes(header, "big") if header is not None else None
        if number is not None and number < reached[partition]:
            number = None
        if number is not None:
            reached[partition] = number + 1
        yield record, number
