"""A state that knows its keys says of each id what a state says that asks RocksDB."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.engine.tuning.options import KNOWS_KEYS
from tests.pipelines.streams import append, deduplicate_ids, run_to_end

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

IDS, AGAIN = 400, 7
"""How many ids a batch has; every so manieth was in a batch before."""
BATCHES = 4


@pytest.mark.parametrize(
    "restarted", [False, True], ids=["in one run", "restarted between batches"]
)
@pytest.mark.parametrize("knows", ["true", "false"])
def test_each_id_counts_once_in_whichever_batch_its_copies_come(
    spark: SparkSession, tmp_path: Path, knows: str, restarted: bool
) -> None:
    own = spark.newSession()
    own.conf.set(KNOWS_KEYS, knows)
    own.conf.set("spark.sql.shuffle.partitions", "2")
    source, target = tmp_path / "ids", tmp_path / "first copies"
    for number in range(BATCHES):
        append(create_batch(own, number), source)
        if restarted:
            run(own, source, target, tmp_path)
    run(own, source, target, tmp_path)
    kept = [row.id for row in own.read.parquet(str(target)).select("id").collect()]
    assert len(kept) == len(set(kept)), "no id counts twice"
    assert set(kept) == {row.id for row in own.read.parquet(str(source)).collect()}


def create_batch(own: SparkSession, number: int) -> DataFrame:
    """New ids, each twice, and ids of each batch before."""
    new = own.range(number * IDS, (number + 1) * IDS)
    old = own.range(0, number * IDS + 1, AGAIN)
    return new.union(new).union(old).coalesce(1)


def run(own: SparkSession, source: Path, target: Path, folder: Path) -> None:
    writer = deduplicate_ids(own, source, F.timestamp_seconds(F.lit(3600)), "1 hour")
    run_to_end(writer.format("parquet").option("path", str(target)), folder)
