"""Spark's workers keep what they have loaded out of the collection after each task."""

import gc
import subprocess
import sys

import pytest
from pyspark import daemon
from pyspark.sql import SparkSession

from infra.settings import locate_root
from pipelines.engine.tuning.python_workers import DAEMON, SHARED

LOOKED_AT = """
import gc, os
from pipelines.engine.tuning.python_workers import create_collector, preload
preload()
after = create_collector()
after.collect()
threads = os.listdir('/proc/self/task')
print(gc.get_freeze_count() > 10_000, len(gc.get_objects()) < 1_000, len(threads))
"""


def test_what_is_loaded_is_looked_at_no_more_and_no_thread_is_lost_by_a_fork() -> None:
    command = [sys.executable, "-c", LOOKED_AT]
    completed = subprocess.run(
        command, cwd=locate_root(), capture_output=True, text=True, check=True
    )
    assert completed.stdout.split() == ["True", "True", "1"]


def test_the_daemon_of_this_spark_collects_by_the_name_that_is_replaced() -> None:
    assert vars(daemon)["gc"] is gc


@pytest.mark.thorough
@pytest.mark.spark
def test_a_worker_begins_with_what_is_shared(spark: SparkSession) -> None:
    assert spark.conf.get("spark.python.daemon.module") == DAEMON

    def read_frozen(_numbers: object) -> list[tuple[int, bool]]:
        import gc
        import sys

        return [(gc.get_freeze_count(), set(SHARED) <= sys.modules.keys())]

    [(count, is_shared)] = (
        spark.sparkContext.parallelize([0], 1).mapPartitions(read_frozen).collect()
    )
    assert count > 10_000
    assert is_shared
