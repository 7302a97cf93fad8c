"""The tables: the meaning of their rows, their folders, how to write them and keep them small.

delta-rs reads and writes them: a commit takes milliseconds, and needs no engine of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, write_deltalake

from contracts import CONTRACTS, Contract, Row
from contracts.arrow import build_arrow_schema
from contracts.measures import AMOUNT
from contracts.validation import VALIDATED
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import PROPERTIES, Coverage, Folders, locate_folders, read_coverage
from infra.settings import Settings

TOPICS = tuple(
    topic
    for _, topic in sorted(CONTRACTS.items())
    if topic.kind == "topic" and topic.visibility == "public"
)
"""The topics whose records the lake keeps: every public one. Views can be computed anew."""

EVENTS = tuple(VALIDATED.values())
"""The topics whose records have an event time, by which they can be deduplicated."""

FILE_BYTES = 64 * 1024**2
"""The size up to which small files are joined: each joining would rewrite a larger one."""

TIDY_BATCHES = 100
"""The number of commits of a table between two tidyings."""

MOMENT = pa.timestamp("us", "UTC")
OF_RECORD: Mapping[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": MOMENT,
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
}
PLACE: Mapping[str, pa.DataType] = {
    "_partition": pa.int32(),
    "_offset": pa.int64(),
    "_published": MOMENT,
}
AMOUNTS = (
    *("receipts", "units_sold", "sales_cents", "units_refunded", "refunded_cents"),
    *("units_received", "units_adjusted"),
)
OF_FACT: Mapping[str, pa.DataType] = {
    "day": pa.date32(),
    **dict.fromkeys(("store_id", "sku"), pa.string()),
    **dict.fromkeys(AMOUNTS, pa.int64()),
}
RECORD, FACT = pa.schema(OF_RECORD), pa.schema(OF_FACT)

ENGINE: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "256MB",
    "temp_directory": str(Path(gettempdir()) / "retail-lake"),
}
NEAREST = f"create macro nearest(cents) as least(greatest(cents, {-(2**63)}), {2**63 - 1})::bigint"


@dataclass(frozen=True)
class Table:
    """A Delta table."""

    folder: Folder
    schema: pa.Schema
    partitioned_by: Sequence[str] = ()

    def read_coverage(self) -> Coverage:
        return read_coverage(self.folder)

    def make(self) -> None:
        """Create the table if it is missing; else add the columns that its contract has since.

        It is a commit without rows, which records the coverage as it is.
        """
        coverage = self.read_coverage()
        self._commit(self.schema.empty_table(), coverage, mode="append", schema_mode="merge")

    def open(self, where: pc.Expression | None = None) -> Any:
        """The dataset of the rows that meet the condition, of which a query reads what it needs."""
        dataset = DeltaTable(str(self.folder)).to_pyarrow_dataset()
        return dataset if where is None else dataset.filter(where)

    def append(self, rows: pa.Table, coverage: Coverage) -> None:
        """Append the rows, in one file per partition. The same commit records the coverage."""
        self._commit(rows, coverage, mode="append")
        self._tidy_if_due(coverage)

    def replace(self, rows: pa.Table, coverage: Coverage, instead_of: str) -> None:
        """Replace the rows that match a condition in SQL, otherwise as `append`."""
        self._commit(rows, coverage, mode="overwrite", predicate=instead_of)
        self._tidy_if_due(coverage)

    def renew(self, rows: pa.Table, coverage: Coverage) -> None:
        """Replace all rows, and columns, otherwise as `append`."""
        self._commit(rows, coverage, mode="overwrite", schema_mode="overwrite")
        self._tidy_if_due(coverage)

    def tidy(self) -> None:
        """Join small files, and remove the files of versions beyond their retention."""
        table = DeltaTable(str(self.folder))
        table.optimize.compact(target_size=FILE_BYTES, max_concurrent_tasks=1)
        table.vacuum(dry_run=False, full=True)

    def _tidy_if_due(self, coverage: Coverage) -> None:
        if coverage.batch % TIDY_BATCHES == 0:
            self.tidy()

    def _commit(self, rows: pa.Table, coverage: Coverage, **how: Any) -> None:
        note = {"userMetadata": coverage.to_json()}
        write_deltalake(
            str(self.folder),
            rows,
            partition_by=[*self.partitioned_by] or None,
            configuration=PROPERTIES,
            commit_properties=CommitProperties(custom_metadata=note),
            **how,
        )


@dataclass(frozen=True)
class Lake:
    """All tables, but for those of states."""

    folders: Folders

    @property
    def bronze(self) -> Table:
        """A row per record of a public topic, unchanged from the log: the archive."""
        return Table(self.folders.bronze, RECORD, ("topic",))

    def silver(self, topic: Contract) -> Table:
        """A row per event of the topic: the fields of its contract, and its record's place."""
        return Table(self.folders.silver(topic), build_silver_schema(topic))

    @property
    def gold(self) -> Table:
        """A row per UTC day, store and sku: the units and cents that moved."""
        return Table(self.folders.daily_facts, FACT, ("day",))

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.bronze, *map(self.silver, EVENTS), self.gold


def locate_lake(settings: Settings) -> Lake:
    return Lake(locate_folders(settings))


def build_silver_schema(topic: Contract) -> pa.Schema:
    """A column for each field, and PLACE. Bytes are as they are, times microseconds in UTC."""
    own: Mapping[str, pa.DataType] = {"timestamp": MOMENT, "bytes": pa.binary()}
    columns = zip(topic.fields, build_arrow_schema(topic), strict=True)
    fields = [column.with_type(own.get(field.type, column.type)) for field, column in columns]
    return pa.schema([*fields, *pa.schema(PLACE)])


def is_between(
    starts: Offsets, ends: Offsets, partition: str = "_partition", offset: str = "_offset"
) -> pc.Expression:
    """Whether a row lies in this part of a topic, of which the columns say the place."""
    parts = (
        (pc.field(partition) == number)
        & (pc.field(offset) >= starts.get((topic, number), 0))
        & (pc.field(offset) < end)
        for (topic, number), end in ends.items()
    )
    return reduce(or_, parts, pc.scalar(False))


def read_records(bronze: Folder, topic: str, starts: Offsets, ends: Offsets) -> list[Row]:
    """The topic's records between these of its offsets, each partition in order.

    They have `partition`, `offset`, `key`, `value` and `timestamp`, in microseconds of 1970: a
    calendar may not have it.
    """
    own = {place: end for place, end in ends.items() if place[0] == topic}
    columns = {name: pc.field(name) for name in ("partition", "offset", "key", "value")}
    columns["timestamp"] = pc.field("timestamp").cast(pa.int64())
    between = (pc.field("topic") == topic) & is_between(starts, own, "partition", "offset")
    dataset = DeltaTable(str(bronze)).to_pyarrow_dataset()
    found = dataset.to_table(columns=columns, filter=between)
    ordered = found.sort_by([("partition", "ascending"), ("offset", "ascending")])
    return list(ordered.to_pylist())


def query(sql: str, **relations: Any) -> pa.Table:
    """The rows of the query over these tables and datasets of Arrow, by name."""
    with duckdb.connect(config=ENGINE) as engine:
        for statement in ("set timezone = 'UTC'", AMOUNT, NEAREST):
            engine.execute(statement)
        for name, relation in relations.items():
            engine.register(name, relation)
        rows: pa.Table = engine.sql(sql).to_arrow_table()
        return rows
