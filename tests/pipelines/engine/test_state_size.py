"""How large the state is, as Spark says it."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.engine.running_batch import StateSize
from tests.pipelines.streams import append, read_files, run_to_end

pytestmark = pytest.mark.spark


def test_the_state_is_measured_in_memory_and_on_disk(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "ids"
    append(spark.range(100), source)
    counted = read_files(spark, source).groupBy("id").agg(F.count("*"))
    query = run_to_end(counted.writeStream.format("noop").outputMode("update"), tmp_path)
    state = StateSize()
    assert state.size_bytes is None
    state.measure(query)
    last = query.lastProgress
    assert last is not None
    [operator] = last.stateOperators
    on_disk = operator.customMetrics["rocksdbSstFileSize"]
    expected = operator.memoryUsedBytes + on_disk
    assert expected > 0
    assert state.size_bytes == expected
