"""A log in memory, for what a broker adds nothing to: order, offsets, ends and markers."""

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import count

from contracts import BOOKS, CONTRACTS, Contract, Row, encode, encode_key
from infra.kafka import Offsets, Partition, UnknownTopic
from services.api.store.changelog import Changelog, End, Extent, OffsetGone, Record
from services.api.store.control import TOPICS
from services.api.store.mirrored import MIRRORED

READ_MAX = 500

WAIT_SECONDS = 0.02
"""How long a read waits for a first record. An API that a test stops waits for its readers."""


class MemoryLog:
    """Topics that keep every record, as Kafka does before it compacts."""

    def __init__(self) -> None:
        self.arrived = threading.Condition()
        self.ids: dict[str, str] = {}
        self.records: dict[Partition, list[tuple[bytes, bytes | None, int]]] = {}
        self._ids = count(1)
        for topic in {*TOPICS, BOOKS.name, *(layout.topic for layout in MIRRORED)}:
            self.make(topic, CONTRACTS[topic].settings.partitions)

    def make(self, topic: str, partitions: int) -> None:
        """Make the topic, or make it anew: empty, with another id."""
        with self.arrived:
            self.ids[topic] = f"id{next(self._ids)}"
            for partition in range(partitions):
                self.records[topic, partition] = []

    def publish(
        self, partition: Partition, key: bytes, value: bytes | None, published_ms: int = 0
    ) -> int:
        """Append a record; returns the end of its partition."""
        with self.arrived:
            self.records[partition].append((key, value, published_ms))
            self.arrived.notify_all()
            return len(self.records[partition])

    def put(self, contract: Contract, row: Row, partition: int = 0, published_ms: int = 0) -> None:
        """Append the row as its contract encodes it."""
        record = encode_key(contract, row), encode(contract, row)
        self.publish((contract.name, partition), *record, published_ms)

    def ends(self, topics: Iterable[str]) -> dict[Partition, int]:
        wanted = set(topics)
        return {
            partition: len(records)
            for partition, records in self.records.items()
            if partition[0] in wanted
        }

    @contextmanager
    def open(self, topics: Iterable[str]) -> Iterator["MemoryReader"]:
        yield MemoryReader(self, topics)


class MemoryReader(Changelog):
    """One reader's place in it; says that it is at an end once, each time it gets there."""

    def __init__(self, log: MemoryLog, topics: Iterable[str]) -> None:
        self.paused: set[Partition] = set()
        self._log = log
        self._topics = list(topics)
        self._next: dict[Partition, int] = {}
        self._told: dict[Partition, int] = {}
        self._ids: dict[str, str] = {}

    def read_ids(self) -> dict[str, str]:
        for topic in self._topics:
            if topic not in self._log.ids:
                raise UnknownTopic(topic)
        return {topic: self._log.ids[topic] for topic in self._topics}

    def read_extent(self) -> Extent:
        self._ids = self.read_ids()
        ends = self._log.ends(self._topics)
        return Extent(ids=self._ids, starts=dict.fromkeys(ends, 0), ends=ends)

    def start(self, offsets: Offsets) -> None:
        self._next = dict(offsets)

    def read(self) -> list[Record | End]:
        with self._log.arrived:
            found = self._available()
            if not found:
                self._log.arrived.wait(WAIT_SECONDS)
                found = self._available()
        return found

    def pause(self, full: Collection[Partition]) -> None:
        self.paused = set(full)

    def _available(self) -> list[Record | End]:
        found: list[Record | End] = []
        for partition, offset in self._next.items():
            if self._log.ids[partition[0]] != self._ids[partition[0]]:
                raise OffsetGone(f"{partition[0]} was made anew")
            if partition in self.paused:
                continue
            records = self._log.records[partition][offset : offset + READ_MAX]
            found += [
                Record(partition, offset + ahead, *record) for ahead, record in enumerate(records)
            ]
            self._next[partition] = end = offset + len(records)
            if end == len(self._log.records[partition]) and self._told.get(partition) != end:
                self._told[partition] = end
                found.append(End(partition, end))
        return found
