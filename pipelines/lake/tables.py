"""The tables: the meaning of their rows, their folders, how to write them and keep them small."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, StructType

from contracts import CONTRACTS, Contract, render_spark_ddl
from contracts.validation import VALIDATED
from infra.folder import Folder
from infra.lake import (
    PROPERTIES,
    RETENTION,
    Coverage,
    Folders,
    find_newest_version,
    locate_folders,
    read_committed_ms,
    read_coverage,
)
from infra.settings import Settings
from ops.generations.record import get_wall_now
from pipelines.engine import archive

TOPICS = tuple(
    topic
    for _, topic in sorted(CONTRACTS.items())
    if topic.kind == "topic" and topic.visibility == "public"
)
"""The topics whose records the lake keeps: every public one. Views can be computed anew."""

EVENTS = tuple(VALIDATED.values())
"""The topics whose records have an event time, by which they can be deduplicated."""

RECORD = f"{archive.RECORD}, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
PLACE = "_partition INT, _offset BIGINT, _published TIMESTAMP"
DAILY_FACTS = (
    "day DATE, store_id STRING, sku STRING, receipts BIGINT, units_sold BIGINT, "
    "sales_cents BIGINT, units_refunded BIGINT, refunded_cents BIGINT, units_received BIGINT, "
    "units_adjusted BIGINT"
)


@dataclass(frozen=True)
class Table:
    """A Delta table, with its columns in Spark's DDL."""

    folder: Folder
    columns: str
    partitioned_by: Sequence[str] = ()

    @property
    def address(self) -> str:
        """Its name in SQL."""
        escaped = str(self.folder).replace("`", "``")
        return f"delta.`{escaped}`"

    def read_coverage(self) -> Coverage:
        return read_coverage(self.folder)

    def committed_ms(self) -> int:
        """Wall time of its last commit, in milliseconds since 1970; 0: it has none."""
        return read_committed_ms(self.folder)

    def make(self, spark: SparkSession) -> None:
        """Create the table if it is missing; else add the columns that its contract has since."""
        if find_newest_version(self.folder) >= 0:
            self._add_columns(spark)
            return
        by = f"PARTITIONED BY ({', '.join(self.partitioned_by)})" if self.partitioned_by else ""
        kept = ", ".join(f"'{name}' = '{value}'" for name, value in PROPERTIES.items())
        spark.sql(
            f"CREATE TABLE {self.address} ({self.columns}) USING delta {by} TBLPROPERTIES ({kept})"
        )

    def _add_columns(self, spark: SparkSession) -> None:
        """Widen the table by a commit without rows, which records the coverage as it is."""
        wanted = spark.createDataFrame([], self.columns)
        if set(list_paths(wanted.schema)) <= set(list_paths(self.read(spark).schema)):
            return
        writer = wanted.write.format("delta").mode("append").option("mergeSchema", "true")
        writer.option("userMetadata", self.read_coverage().to_json()).save(str(self.folder))

    def read(self, spark: SparkSession, version: int | None = None) -> DataFrame:
        """The rows now, or at a version, with the table's columns."""
        reader = spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return reader.load(str(self.folder))

    def write(self, rows: DataFrame, coverage: Coverage, instead_of: str | None = None) -> None:
        """Append the rows, or replace those that match `instead_of`, in one file per partition.

        The same commit records the coverage. Delta skips a batch whose number it has already.
        """
        writer = (
            rows.coalesce(1)
            .write.format("delta")
            .option("userMetadata", coverage.to_json())
            .option("txnAppId", "lake")
            .option("txnVersion", coverage.batch)
        )
        if instead_of is None:
            writer.mode("append").save(str(self.folder))
        else:
            writer.mode("overwrite").option("replaceWhere", instead_of).save(str(self.folder))

    def tidy(self, spark: SparkSession) -> None:
        """Join small files, and remove the files of versions beyond their retention.

        To look for those takes a second, even where the table is too young to have any.
        """
        option = "spark.databricks.delta.commitInfo.userMetadata"
        spark.conf.set(option, self.read_coverage().to_json())
        try:
            spark.sql(f"OPTIMIZE {self.address}")
            if self.is_older_than_retention(get_wall_now()):
                spark.sql(f"VACUUM {self.address}")
        finally:
            spark.conf.unset(option)

    def is_older_than_retention(self, now: datetime) -> bool:
        """Whether the table was there RETENTION ago; so too if its first commit is not kept."""
        created_ms = read_committed_ms(self.folder, version=0)
        return now - datetime.fromtimestamp(created_ms / 1000, UTC) > RETENTION


@dataclass(frozen=True)
class Lake:
    """All tables."""

    folders: Folders

    @property
    def bronze(self) -> Table:
        """A row per record of a public topic, unchanged from the log: the archive."""
        return Table(self.folders.bronze, RECORD, ("topic",))

    def silver(self, topic: Contract) -> Table:
        """A row per event of the topic: the fields of its contract, and its record's place."""
        return Table(self.folders.silver(topic), f"{render_spark_ddl(topic)}, {PLACE}")

    @property
    def gold(self) -> Table:
        """A row per UTC day, store and sku: the units and cents that moved."""
        return Table(self.folders.daily_facts, DAILY_FACTS, ("day",))

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.bronze, *map(self.silver, EVENTS), self.gold


def list_paths(kind: DataType, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The columns of a type, with those within."""
    if isinstance(kind, StructType):
        for field in kind:
            yield (*path, field.name)
            yield from list_paths(field.dataType, (*path, field.name))
    elif isinstance(kind, ArrayType):
        yield from list_paths(kind.elementType, path)


def locate_lake(settings: Settings) -> Lake:
    return Lake(locate_folders(settings))
