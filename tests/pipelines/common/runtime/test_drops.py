"""A record that Spark drops is seen, however many batches come between two looks."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from pipelines.common.runtime.query import Invalid, refuse_drops
from tests.pipelines.deduplication import deduplicate_ids
from tests.pipelines.files import append

pytestmark = pytest.mark.spark

IN_TIME = (3600, 7200, 10800, 14400)
LATE = 5400
"""Seconds of 1970: two hours behind what was read before it."""


def run_deduplication(spark: SparkSession, folder: Path, times: tuple[int, ...]) -> StreamingQuery:
    """A finished query that has read one record a batch, and remembers ids for a minute."""
    source = folder / "ids"
    for seconds in times:
        append(spark.range(1).select(F.lit(seconds).cast("long").alias("id")), source)
    at = F.timestamp_seconds("id")
    query = deduplicate_ids(spark, source, at, "1 minute", folder).format("noop").start()
    assert query.awaitTermination(60)
    return query


def test_batches_that_drop_nothing_are_looked_at_once(spark: SparkSession, tmp_path: Path) -> None:
    query = run_deduplication(spark, tmp_path, IN_TIME)
    looked_at = refuse_drops(query)
    assert looked_at == max(progress.timestamp for progress in query.recentProgress)
    assert refuse_drops(query, looked_at) == looked_at


@pytest.mark.parametrize("later", [(), (18000, 21600, 25200)])
def test_a_dropped_record_is_seen(
    spark: SparkSession, tmp_path: Path, later: tuple[int, ...]
) -> None:
    query = run_deduplication(spark, tmp_path, (*IN_TIME, LATE, *later))
    with pytest.raises(Invalid, match="dropped 1 records"):
        refuse_drops(query)
