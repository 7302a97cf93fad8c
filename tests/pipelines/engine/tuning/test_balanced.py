"""Tasks that share a read have about as many records each, and every partition is one task's."""

from collections import Counter

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from contracts import RECEIPTS, REFUNDS
from infra.settings import Settings
from pipelines.engine.source import build_source_options
from tests.brokers import get_producer

pytestmark = [pytest.mark.thorough, pytest.mark.spark, pytest.mark.e2e]

RECORDS = {
    **{(RECEIPTS.name, number): records for number, records in enumerate((10, 40, 30, 20))},
    **{(REFUNDS.name, number): 1 for number in range(4)},
}


def test_two_tasks_read_as_many_records_and_each_partition_in_its_order(
    spark: SparkSession, kafka: Settings
) -> None:
    client = get_producer(kafka)
    for (topic, partition), records in RECORDS.items():
        for number in range(records):
            client.produce(topic, str(number).encode(), partition=partition)
    assert client.flush(30) == 0
    read = (
        spark.read.format("kafka")
        .options(**build_source_options(kafka))
        .option("subscribe", f"{RECEIPTS.name},{REFUNDS.name}")
        .load()
        .coalesce(2)
        .select("topic", "partition", "offset", F.spark_partition_id().alias("task"))
        .collect()
    )
    by_task = Counter(row["task"] for row in read)
    assert sorted(by_task.values()) == [52, 52]
    for (topic, partition), records in RECORDS.items():
        own = [row for row in read if (row["topic"], row["partition"]) == (topic, partition)]
        assert [row["offset"] for row in own] == list(range(records))
        assert len({row["task"] for row in own}) == 1
