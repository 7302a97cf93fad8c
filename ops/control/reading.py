"""Reads records that anybody may have written. One that breaks its contract is set aside: it is
counted, and the reader goes on.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from threading import Lock

from confluent_kafka import Message

from contracts import GENERATIONS, Contract, Row, Undecodable, codec
from contracts.codec import Decoded
from contracts.consumer import CONSUMERS
from contracts.declarations import find_writers
from contracts.schemas import find_registered_since, find_schemas
from contracts.validation import UNDECODABLE, VALIDATED, Rejection, validate
from infra.errors import UserError
from infra.kafka import (
    Offsets,
    Record,
    create_admin,
    read_between,
    read_end_offsets,
    read_start_offsets,
    to_record,
)
from infra.settings import Settings

Place = tuple[str, int, int]
"""Topic, partition and offset."""

UNKNOWN_PIPELINE = "unknown-pipeline"
"""The generations of a pipeline that this code does not have: they may name another's views."""

PIPELINES = frozenset(find_writers(CONSUMERS, GENERATIONS.name))

log = logging.getLogger("records")


class NewerSchema(UserError):
    """Only a newer version of this project can read the record."""

    def __init__(self, topic: str, number: int) -> None:
        super().__init__(
            f"{topic} has records of schema {number}, which the lock file has and this process "
            "does not know. It reads no further, and nothing is lost. Start it again with the "
            "present code: make down && make up"
        )


class Reader:
    """Reads the values of records, and sets aside what validation rejects."""

    def __init__(self, decode: Callable[[bytes | None], Decoded] = codec.decode) -> None:
        """`decode` is `create_reader` of a declared consumer, or decodes every field."""
        self._decode = decode
        self._lock = Lock()
        self._set_aside: Counter[tuple[str, str]] = Counter()

    def read(
        self,
        contract: Contract,
        place: Place,
        key: bytes | None,
        value: bytes | None,
        published_ms: int,
    ) -> Row | None:
        """The value, times as datetimes; None for a record that is set aside.

        Raises NewerSchema: a record that only newer code can read is not set aside.
        """
        try:
            # Only of events a copy may be in another partition; others are known by their id.
            partition = place[1] if contract.name in VALIDATED else None
            found = self._judge(contract, key, value, published_ms, partition)
        except Undecodable as error:
            found = Rejection(UNDECODABLE, error.reason)
        if not isinstance(found, Rejection):
            return found
        refuse_newer(contract, value)
        self.set_aside(place, found)
        return None

    def read_message(self, contract: Contract, message: Message) -> Row | None:
        """As `read`, for a message that is no error."""
        return self.read_record(contract, to_record(message))

    def read_record(self, contract: Contract, record: Record) -> Row | None:
        """As `read`, for a record of the log."""
        place = record.topic, record.partition, record.offset
        return self.read(contract, place, record.key, record.value, record.published_ms)

    def count_set_aside(self) -> dict[tuple[str, str], int]:
        """How many records were set aside since the start, by topic and reason."""
        with self._lock:
            return dict(self._set_aside)

    def _judge(
        self,
        contract: Contract,
        key: bytes | None,
        value: bytes | None,
        published_ms: int,
        partition: int | None,
    ) -> Row | Rejection:
        """The value, or its fault. Raises Undecodable, also for a time that no calendar has."""
        if contract.kind == "view":  # its rules cost more than the row: the pipeline keeps them
            if codec.parse_schema_id(value) not in _list_schema_ids(contract):
                raise Undecodable(f"no schema of {contract.name}")
        else:
            fault = validate(contract, key, value, published_ms, partition)
            if isinstance(fault, Rejection):
                return fault
        row = self._decode(value).value
        if contract.name == GENERATIONS.name and row["pipeline"] not in PIPELINES:
            return Rejection(UNKNOWN_PIPELINE, f"generations of {row['pipeline']}")
        return row

    def set_aside(self, place: Place, found: Rejection) -> None:
        """Count a record that is not used. The first of its kind is logged."""
        kind = place[0], found.reason
        with self._lock:
            self._set_aside[kind] += 1
            is_first = self._set_aside[kind] == 1
        if is_first:
            text = "%s/%d/%d is set aside: %s, %s. More of this kind are counted, not logged"
            log.warning(text, *place, found.reason, found.found)


ALL_FIELDS = Reader()
"""Of commands, and of what writes the control topics."""


@cache
def _list_schema_ids(contract: Contract) -> frozenset[int]:
    return frozenset(find_schemas(contract))


def refuse_newer(contract: Contract, value: bytes | None) -> None:
    """Raise NewerSchema if the lock file has the value's schema and this process does not."""
    try:
        number = codec.parse_schema_id(value)
    except Undecodable:
        return
    if number in find_registered_since({contract.name}):
        raise NewerSchema(contract.name, number)


def read_table(
    settings: Settings, reader: Reader, contract: Contract, *, records_max: int | None = None
) -> dict[bytes, Row]:
    """The last good value of every key in a compacted topic, up to the topic's end at the call.

    With `records_max`, only the keys among that number of last offsets of each partition.
    Raises UnknownTopic, TimeoutError and NewerSchema.
    """
    client = create_admin(settings)
    ends = read_end_offsets(client, [contract.name])
    starts = read_start_offsets(client, [contract.name])
    if records_max is not None:
        last = {partition: end - records_max for partition, end in ends.items()}
        starts = {partition: max(start, last[partition]) for partition, start in starts.items()}
    return read_newest_rows(settings, reader, contract, starts, ends)


def read_newest_rows(
    settings: Settings, reader: Reader, contract: Contract, starts: Offsets, ends: Offsets
) -> dict[bytes, Row]:
    """The last good value of every key between these offsets.

    A record that is set aside hides no earlier one of its key. Raises TimeoutError and NewerSchema.
    """
    rows: dict[bytes, Row] = {}
    for message in read_between(settings, starts, ends):
        key = message.key() or b""
        if message.value() is None:
            rows.pop(key, None)
        elif (row := reader.read_message(contract, message)) is not None:
            rows[key] = row
    return rows


def read_rows(
    settings: Settings, reader: Reader, contract: Contract, ends: Offsets
) -> Iterator[Row]:
    """Every good value below these ends. Raises TimeoutError and NewerSchema."""
    for message in read_between(settings, {}, ends):
        row = reader.read_message(contract, message)
        if row is not None:
            yield row
