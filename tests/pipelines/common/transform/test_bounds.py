"""Spark sees every limit of every contract of events where Python sees it."""

import pytest
from pyspark.sql import SparkSession

from contracts import RELEASES, encode, encode_key
from contracts.partitions import choose_partition
from contracts.validation import VALIDATED, Rejection, validate
from pipelines.common.transform.validate import validate as validate_records
from pipelines.engine.archive import RECORD
from tests.contracts.around import list_around

pytestmark = pytest.mark.spark

BYTES_MAX = 1_000_000
"""Of a record: what is larger never reaches a pipeline."""


@pytest.mark.parametrize("name", [topic for topic in VALIDATED if topic != RELEASES.name])
def test_spark_and_python_see_a_limit_at_the_same_place(spark: SparkSession, name: str) -> None:
    agreed = VALIDATED[name]
    rows, expected = [], []
    for offset, example in enumerate(list_around(agreed)):
        value = encode(agreed, example.value)
        if len(value) > BYTES_MAX:
            continue
        published = example.value[str(agreed.event_time)]
        row = encode_key(agreed, example.value), value
        partition = choose_partition(row[0], agreed.settings.partitions)
        verdict = validate(agreed, *row, round(published.timestamp() * 1000), partition)
        rows.append((name, partition, offset, published, *row))
        expected.append(verdict.reason if isinstance(verdict, Rejection) else None)
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    reasons = [
        row["_reason"]
        for row in validate_records({agreed: ()}, records).select("_reason").collect()
    ]
    assert reasons == expected
    assert len(set(expected)) > 2
