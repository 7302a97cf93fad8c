"""The oracle of the inventory pipeline: its answer at given offsets, by a batch read of the log;
and what every oracle has in common.

They share only the contracts with the pipelines. They have their own code, in another engine, to
read, decode, deduplicate and judge lateness.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa

from contracts import ADJUSTMENTS, HEARTBEATS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS, STOCK_LEVELS
from contracts.measures import AMOUNT
from infra.kafka import Offsets, Partition, Record
from ops.verify.log import number_records
from ops.verify.validation import Content, Event, Unreadable, read_record

Row = dict[str, Any]
Place = tuple[str, int, int]

MOVEMENTS = ("sold", "refunded", "received", "adjusted", "dispatched", "closed")
"""The movements of a line, in units; `closed` means no longer in transit."""

TIME = pa.timestamp("ms", tz="UTC")
TYPES = {
    pa.string(): "varchar",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    TIME: "timestamp with time zone",
}


def define_columns(texts: str, numbers: str, times: str = "") -> dict[str, pa.DataType]:
    """The columns of a table, by the names of those of each type."""
    named: dict[pa.DataType, str] = {pa.string(): texts, pa.int64(): numbers, TIME: times}
    return {name: kind for kind, names in named.items() for name in names.split()}


EXTRACTED = pa.schema(
    {
        **define_columns(
            "topic event_id store_id sku measure",
            f"partition offset sequence unit_price_cents {' '.join(MOVEMENTS)}",
            "event_time published",
        ),
        "on_time": pa.bool_(),
    }
)
"""One line of a readable record. `sequence`: its number among the simulator's records in the
partition; null for another publisher. A release has the line and the event time of its
original, and its own topic; its event_id joins the original's topic and id."""

UNREADABLE = pa.schema([EXTRACTED.field(name) for name in ("store_id", "topic", "sequence")])
"""An unreadable record of the simulator; its key still names the store."""

ACCEPTED = "accepted"
ACCOUNTED = pa.schema(
    [EXTRACTED.field(name) for name in ("topic", "partition", "event_id", "event_time")]
)
"""An accepted record, for the accounting."""

ROWS_PER_CHUNK = 100_000


@dataclass(frozen=True)
class Book:
    """The record accounting of one partition."""

    read: int
    applied: int
    duplicate: int
    quarantined: int


class Log:
    """Some records, read once: their lines as tables of an engine, and their accounting."""

    schemas: ClassVar[Mapping[str, pa.Schema]]
    """The tables that `build_rows` fills."""

    def __init__(self, records: Iterable[Record], ends: Offsets | None = None) -> None:
        """`ends`: the ends of the partitions that the accounting counts."""
        self.ends = ends or {}
        self.rejected: dict[Place, Collection[str]] = {}
        """The places of rejected records, and the possible reasons of the quarantine; none: any
        reason. Dimension topics are not in the accounting."""
        self.simulated: Counter[Partition] = Counter()
        """The number of the simulator's records, by partition."""
        self._read: Counter[Partition] = Counter()
        # Until a chunk is full. With few rows a second thread costs more than it does.
        self.engine = duckdb.connect(config={"threads": 1})
        self.engine.execute("set timezone = 'UTC'")
        self.engine.execute(AMOUNT)
        schemas = {ACCEPTED: ACCOUNTED, **self.schemas}
        for name, schema in schemas.items():
            self.engine.execute(render_table(name, schema))
        waiting: dict[str, list[Row]] = {name: [] for name in schemas}
        for name, row in self._read_rows(records):
            waiting[name].append(row)
            if len(waiting[name]) >= ROWS_PER_CHUNK:
                self.engine.execute("reset threads")
                self._put(name, pa.Table.from_pylist(waiting[name], schemas[name]))
                waiting[name] = []
        for name, left in waiting.items():
            if left:
                self._put(name, pa.Table.from_pylist(left, schemas[name]))

    def build_rows(
        self, record: Record, sequence: int | None, content: Content | None
    ) -> Iterator[tuple[str, Row]]:
        """The tables and rows for the lines of a record.

        `sequence`: its number among the simulator's records in the partition. `content`: timely or
        not; None for a record that breaks its contract.
        """
        raise NotImplementedError

    def compute_views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        raise NotImplementedError

    def compute_view(self) -> list[Row]:
        """The rows of the only view of the pipeline."""
        [rows] = self.compute_views().values()
        return rows

    def select(self, sql: str) -> list[Row]:
        """The rows of a query over the tables."""
        return list(self.engine.sql(sql).to_arrow_table().to_pylist())

    def load(self, table: str, rows: pa.Table) -> None:
        self.engine.register("rows_to_load", rows)
        self.engine.execute(f"create or replace table {table} as from rows_to_load")

    def count_books(self) -> dict[Partition, Book]:
        """The record accounting. It counts each number and derives none from the others."""
        counted = self.engine.execute(
            "select topic, partition, count(distinct (event_id, event_time)), count(*)"
            " from accepted group by all"
        ).fetchall()
        by_partition = {(topic, partition): counts for topic, partition, *counts in counted}
        rejected = Counter((topic, partition) for topic, partition, _ in self.rejected)
        books = {}
        for partition in self.ends:
            applied, accepted = by_partition.get(partition, (0, 0))
            books[partition] = Book(
                self._read[partition], applied, accepted - applied, rejected[partition]
            )
        return books

    def _read_rows(self, records: Iterable[Record]) -> Iterator[tuple[str, Row]]:
        for record, sequence in number_records(records):
            partition = record.topic, record.partition
            self._read[partition] += 1
            if sequence is not None:
                self.simulated[partition] = sequence + 1
            content: Content | None = None
            reasons: Collection[str] | None = None
            try:
                content = read_record(record)
                if content.untimely:
                    reasons = (content.untimely,)
            except Unreadable as error:
                reasons = error.reasons
            if reasons is not None and partition in self.ends:
                self.rejected[*partition, record.offset] = reasons
            if content is not None and not content.untimely:
                place = {"topic": record.topic, "partition": record.partition}
                time = content.movement["event_time"]
                yield ACCEPTED, {**place, "event_id": content.event_id, "event_time": time}
            yield from self.build_rows(record, sequence, content)

    def _put(self, name: str, rows: pa.Table) -> None:
        self.engine.register("rows_to_put", rows)
        self.engine.execute(f"insert into {name} from rows_to_put")


@cache
def render_table(name: str, schema: pa.Schema) -> str:
    columns = ", ".join(f'"{column.name}" {TYPES[column.type]}' for column in schema)
    return f"create table {name} ({columns})"


class Oracle(Log):
    """The log below some offsets, loaded once, for queries."""

    schemas: ClassVar[Mapping[str, pa.Schema]] = {"extracted": EXTRACTED, "unreadable": UNREADABLE}

    def __init__(self, records: Iterable[Record], ends: Offsets) -> None:
        super().__init__(records, ends)
        self.engine.execute(f"create macro is_release(topic) as topic = '{RELEASES.name}'")
        self.engine.execute(f"create view applied as {read_query('applied')}")

    def build_rows(
        self, record: Record, sequence: int | None, content: Content | None
    ) -> Iterator[tuple[str, Row]]:
        if content is not None:
            for line in list_lines(record, sequence, content):
                yield "extracted", line
        elif sequence is not None:
            store_id = (record.key or b"").decode()
            yield "unreadable", {"store_id": store_id, "topic": record.topic, "sequence": sequence}

    def compute_views(self) -> dict[str, list[Row]]:
        return {STOCK_LEVELS.name: self.ask("stock_level")}

    def ask(self, name: str) -> list[Row]:
        """The rows of the query of that name."""
        return self.select(read_query(name))


def read_query(name: str) -> str:
    """The text of a query beside this file."""
    return Path(__file__).with_name(f"{name}.sql").read_text()


def list_lines(record: Record, sequence: int | None, content: Content) -> list[Row]:
    """A row per line of the event."""
    happened = content.movement
    shared = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "sequence": sequence,
        "on_time": content.untimely is None,
        "event_id": content.event_id,
        "event_time": happened["event_time"],
        "published": record.published_ms,
        "store_id": happened.get("store_id"),
    }
    nothing = {"unit_price_cents": None, "measure": None, **dict.fromkeys(MOVEMENTS, 0)}
    return [
        {**shared, "sku": sku, **nothing, **movement}
        for sku, movement in read_movements(content.topic, happened)
    ]


def read_movements(topic: str, happened: Event) -> Iterator[tuple[str | None, Row]]:
    """The sku of each line, its movements in units, and of a sale its price and measure.

    A heartbeat has one line without a sku.
    """
    if topic == HEARTBEATS.name:
        yield None, {}
        return
    if topic == ADJUSTMENTS.name:
        yield happened["sku"], {"adjusted": happened["units"]}
        return
    for line in happened["lines"]:
        if topic == RECEIPTS.name:
            price = {"unit_price_cents": line["unit_price_cents"], "measure": line.get("measure")}
            yield line["sku"], {"sold": line["units"], **price}
        elif topic == REFUNDS.name:
            yield line["sku"], {"refunded": line["units"]}
        elif topic == SHIPMENTS.name and happened["status"] == "dispatched":
            yield line["sku"], {"dispatched": line["dispatched_units"]}
        elif topic == SHIPMENTS.name:
            units = {"received": line["received_units"], "closed": line["dispatched_units"]}
            yield line["sku"], units
        else:
            raise ValueError(f"The inventory is not moved by {topic}.")
