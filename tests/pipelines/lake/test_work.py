"""How far a batch goes, which events are new, and when old files may go."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from contracts.times import MILLISECOND
from infra.folder import Folder
from infra.lake import RETENTION, read_committed_ms
from pipelines.engine.archive import OtherLog
from pipelines.lake.tables import Table
from pipelines.lake.work import drop_known, limit_ends

A, B = ("receipts", 0), ("receipts", 1)
AT = datetime(2026, 3, 2, 10, 41, tzinfo=UTC)
EVENT = "_partition INT, event_id STRING, event_time TIMESTAMP"


def test_a_small_batch_takes_all_there_is() -> None:
    assert limit_ends({A: 5}, {A: 9, B: 3}, records_max=7) == {A: 9, B: 3}


def test_a_large_one_is_shared_out_and_comes_nearer_everywhere() -> None:
    ends = {A: 1_000, B: 3}
    reached = limit_ends({A: 0}, ends, records_max=100)
    assert all(0 < reached[partition] <= ends[partition] for partition in ends)
    assert sum(reached.values()) <= 100 + len(ends)


def test_batch_by_batch_the_end_is_reached() -> None:
    ends, reached = {A: 997, B: 31}, {A: 0, B: 0}
    for _ in range(200):
        reached = limit_ends(reached, ends, records_max=10)
    assert reached == ends


def test_a_log_that_ends_before_the_table_is_another_one() -> None:
    with pytest.raises(OtherLog, match="receipts/0"):
        limit_ends({A: 5}, {A: 4}, records_max=10)


@pytest.mark.spark
@pytest.mark.parametrize("apart", [timedelta(), MILLISECOND, -MILLISECOND, timedelta(days=1)])
def test_a_copy_has_the_id_and_the_time_of_what_is_known(
    spark: SparkSession, apart: timedelta
) -> None:
    silver = spark.createDataFrame([(0, "E1", AT - apart)], EVENT)
    new = spark.createDataFrame([(0, "E1", AT), (0, "E2", AT), (1, "E1", AT)], EVENT)
    unknown_ids = {
        (row["_partition"], row["event_id"]) for row in drop_known(new, silver).collect()
    }
    assert unknown_ids == {(0, "E2"), (1, "E1")} | ({(0, "E1")} if apart else set())


def test_files_are_kept_for_readers_of_earlier_versions(tmp_path: Path) -> None:
    DeltaTable.create(str(tmp_path), pa.schema([("day", pa.date32())]))
    table = Table(Folder(str(tmp_path)), "day DATE")
    created = datetime.fromtimestamp(read_committed_ms(table.folder) / 1000, UTC)
    assert not table.is_older_than_retention(created)
    assert not table.is_older_than_retention(created + RETENTION)
    assert table.is_older_than_retention(created + RETENTION + MILLISECOND)


def test_a_table_without_its_first_commit_is_old(tmp_path: Path) -> None:
    table = Table(Folder(str(tmp_path)), "day DATE")
    assert table.is_older_than_retention(AT)
