"""Shares of the cores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra import java
from pipelines.common.pipeline import list_pipelines, load
from pipelines.engine.session import POOLS_FILE, write_pools

ASK = """
import sys
from pyspark.sql import SparkSession
options = {"spark.scheduler.mode": "FAIR", "spark.ui.enabled": "false", sys.argv[1]: sys.argv[2]}
builder = SparkSession.builder.master("local[1]")
for name, value in options.items():
    builder = builder.config(name, value)
context = builder.getOrCreate().sparkContext._jsc.sc()
print([context.getPoolForName(name).get().weight() for name in sys.argv[3:]])
"""


@pytest.mark.thorough
@pytest.mark.spark
def test_spark_gives_each_pipeline_the_weight_that_it_declares(tmp_path: Path) -> None:
    """A Spark of its own: pools are read once, when it starts."""
    rooms = [load(name) for name in list_pipelines()]
    shares = write_pools(tmp_path / "a folder" / "pools.xml", rooms)
    asked = [POOLS_FILE, shares[POOLS_FILE], *(room.name for room in rooms)]
    answer = subprocess.run(
        [sys.executable, "-c", ASK, *asked],
        env={**os.environ, "JAVA_HOME": str(java.ensure_java_home())},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert answer.stdout.strip() == str([room.weight for room in rooms])


def test_who_is_looked_at_comes_first() -> None:
    weights = {name: load(name).weight for name in list_pipelines()}
    assert weights["inventory"] > weights["fraud"] > weights["analytics"] == weights["visits"]
