"""Which copies of an event silver knows already."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from contracts.times import MILLISECOND
from pipelines.lake.silver import APART_MAX, drop_known

pytestmark = pytest.mark.spark

AT = datetime(2026, 3, 2, 10, 41, tzinfo=UTC)
EVENT = "_partition INT, event_id STRING, event_time TIMESTAMP"


@pytest.mark.parametrize(
    ("earlier", "is_known"),
    [
        (timedelta(), True),
        (APART_MAX - MILLISECOND, True),
        (APART_MAX, True),
        (APART_MAX + MILLISECOND, False),
        (10 * APART_MAX, False),
        (-10 * APART_MAX, True),
    ],
)
@pytest.mark.crosses("pipelines/lake/silver/APART_MAX")
def test_a_copy_that_tells_another_time_is_known_if_that_is_not_long_before(
    spark: SparkSession, earlier: timedelta, is_known: bool
) -> None:
    known = spark.createDataFrame([(0, "E1", AT - earlier)], EVENT)
    new = spark.createDataFrame([(0, "E1", AT), (0, "E2", AT), (1, "E1", AT)], EVENT)
    unknown_ids = {(row["_partition"], row["event_id"]) for row in drop_known(new, known).collect()}
    assert unknown_ids == {(0, "E2"), (1, "E1")} | (set() if is_known else {(0, "E1")})
