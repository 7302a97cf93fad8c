"""A consumer loop as one writes it on the first day: it stands for reactive libraries.

It counts, writes the sums, and then notes where it is. Sums are in a database that outlives a
crash. The ids that it has counted are in memory, and lost with it.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Protocol

from confluent_kafka import TopicPartition

from contracts import RECEIPTS, decode
from infra.kafka import create_admin, create_consumer, fetch_committed, read_end_offsets
from infra.settings import Settings
from ops.bench.systems.answers import Run, Units

RECORDS_PER_STEP = 1_000
ANSWER_SECONDS_MAX = 30.0

TABLE = """
create table if not exists sold
    (store_id text, sku text, units integer, primary key (store_id, sku))
"""
ADD = """
insert into sold values (?, ?, ?)
on conflict (store_id, sku) do update set units = units + excluded.units
"""


class Shelves:
    """The units sold by shelf, in a file; the ids that were counted, in memory."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file)
        self._database.execute(TABLE)
        self._ids: set[str] = set()

    def add(self, values: Iterable[bytes]) -> None:
        """Count each receipt whose id is not known, and write the sums in one transaction."""
        sold = Counter[tuple[str, str]]()
        for receipt in (decode(value).value for value in values):
            if receipt["event_id"] not in self._ids:
                self._ids.add(receipt["event_id"])
                for line in receipt["lines"]:
                    sold[receipt["store_id"], line["sku"]] += line["units"]
        with self._database:
            self._database.executemany(ADD, ((*shelf, units) for shelf, units in sold.items()))

    def read(self) -> Units:
        rows = self._database.execute("select store_id, sku, units from sold")
        return {(store_id, sku): units for store_id, sku, units in rows}


class Source(Protocol):
    """Where the loop gets receipts from."""

    def take(self) -> list[bytes]:
        """The next ones; none: there are no more."""

    def acknowledge(self) -> None:
        """What was taken is done."""


class GroupOfOne:
    """The receipts in the log that a consumer group has not committed; it has one member."""

    def __init__(self, settings: Settings, group: str) -> None:
        ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
        self._reader = create_consumer(settings, group)
        committed = fetch_committed(self._reader, group, ends)
        self._places = [
            TopicPartition(at.topic, at.partition, max(0, at.offset)) for at in committed
        ]
        self._left = sum(ends.values()) - sum(at.offset for at in self._places)
        self._reader.assign(self._places)

    def take(self) -> list[bytes]:
        if not self._left:
            return []
        wanted = min(RECORDS_PER_STEP, self._left)
        taken = self._reader.consume(wanted, timeout=ANSWER_SECONDS_MAX)
        if not taken:
            raise TimeoutError(f"Kafka should send {self._left:,} more receipts, but does not")
        self._left -= len(taken)
        return [message.value() or b"" for message in taken]

    def acknowledge(self) -> None:
        reached = [at for at in self._reader.position(self._places) if at.offset >= 0]
        self._reader.commit(offsets=reached, asynchronous=False)

    def close(self) -> None:
        self._reader.close()


def count(source: Source, shelves: Shelves, records_max: int | None = None) -> None:
    """Count all receipts; or stop after so many, between the sums and the acknowledgement."""
    counted = 0
    while values := source.take():
        shelves.add(values)
        counted += len(values)
        if records_max is not None and counted >= records_max:
            return
        source.acknowledge()


def measure_seconds(work: Callable[[], None]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def run(settings: Settings, records: int) -> Run:
    undisturbed = Shelves(settings.data_dir / "loop.sqlite")
    return Run(
        measure_seconds(partial(count_log, settings, "bench-loop", undisturbed)),
        undisturbed.read(),
        count_log_with_crash(settings, records // 2),
        f"One process, fastavro, sums in SQLite; offsets are committed after each "
        f"{RECORDS_PER_STEP:,} records. It knows ids in memory.",
        "The loop ends between a sum and its commit; another one continues.",
    )


def count_log_with_crash(settings: Settings, records: int) -> Units:
    """What two loops count, one after the other: the first crashes after so many records."""
    group, file = "bench-loop-killed", settings.data_dir / "loop-killed.sqlite"
    count_log(settings, group, Shelves(file), records)
    second = Shelves(file)
    count_log(settings, group, second)
    return second.read()


def count_log(
    settings: Settings, group: str, shelves: Shelves, records_max: int | None = None
) -> None:
    source = GroupOfOne(settings, group)
    try:
        count(source, shelves, records_max)
    finally:
        source.close()
