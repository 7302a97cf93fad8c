"""Which copies of an event silver knows already."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from contracts.times import MILLISECOND
from pipelines.lake.silver import drop_known

pytestmark = pytest.mark.spark

AT = datetime(2026, 3, 2, 10, 41, tzinfo=UTC)
EVENT = "_partition INT, event_id STRING, event_time TIMESTAMP"


@pytest.mark.parametrize("apart", [timedelta(), MILLISECOND, -MILLISECOND, timedelta(days=1)])
def test_a_copy_has_the_id_and_the_time_of_what_is_known(
    spark: SparkSession, apart: timedelta
) -> None:
    known = spark.createDataFrame([(0, "E1", AT - apart)], EVENT)
    new = spark.createDataFrame([(0, "E1", AT), (0, "E2", AT), (1, "E1", AT)], EVENT)
    unknown_ids = {(row["_partition"], row["event_id"]) for row in drop_known(new, known).collect()}
    assert unknown_ids == {(0, "E2"), (1, "E1")} | ({(0, "E1")} if apart else set())
