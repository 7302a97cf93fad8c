"""The options of Spark's Java, held against Java itself, and shares of the cores."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra import java
from infra.java import locate_java
from infra.settings import Settings
from pipelines.common.pipeline import list_pipelines, load
from pipelines.engine.session import POOLS_FILE, build_options, get_engine, write_pools

CACHE_MIB = 64
"""More than the objects of an ahead-of-time cache take in the old part of the heap."""


@pytest.mark.parametrize("ram", ["1g", "16g", "24g", "256g"])
@pytest.mark.parametrize("memory", ["700m", "2g"])
def test_the_first_heap_has_room_for_the_cache_whatever_memory_there_is(
    ram: str, memory: str
) -> None:
    options = build_options(Settings(spark_driver_memory=memory), "test")
    java_options = shlex.split(options["spark.driver.extraJavaOptions"])
    command = [str(locate_java()), f"-XX:MaxRAM={ram}", f"-Xmx{memory}", *java_options]
    command += ["-XX:+PrintFlagsFinal", "-version"]
    flags = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    sizes = dict(re.findall(r" (\w+HeapSize|NewSize) += (\d+)", flags))
    room = int(sizes["InitialHeapSize"]) - int(sizes["NewSize"])
    assert room >= CACHE_MIB * 1024**2


def test_the_first_heap_is_no_larger_than_the_largest() -> None:
    options = build_options(Settings(spark_driver_memory="300m"), "test")
    assert "-Xms300m" in shlex.split(options["spark.driver.extraJavaOptions"])


@pytest.mark.spark
def test_java_leads_a_session_of_its_own(spark: SparkSession) -> None:
    java = get_engine(spark).pid
    assert os.getsid(java) == java != os.getsid(0)


@pytest.mark.spark
def test_the_context_takes_functions_as_they_are(spark: SparkSession) -> None:
    methods = spark.sparkContext._jsc.sc().getClass().getMethods()
    # Spark's own would be another.
    [clean] = [method for method in methods if method.getName() == "clean"]
    assert clean.getDeclaringClass().getName() == "retail.context.LeanContext"


@pytest.mark.spark
def test_the_options_of_hadoop_arrive_without_their_origins(spark: SparkSession) -> None:
    java, context = spark.sparkContext._jvm, spark.sparkContext._jsc.sc()
    assert java is not None
    options = java.org.apache.hadoop.conf.Configuration(False)
    asked = {"retail.test": "as it is", "retail.einheit": "Stück", "retail.nothing": ""}
    for name, value in asked.items():
        options.set(name, value, "a test")
    in_full = java.org.apache.spark.util.SerializableConfiguration(options)
    sent = context.broadcast(in_full, java.scala.reflect.ClassTag.apply(in_full.getClass())).value()
    serializer = java.org.apache.commons.lang3.SerializationUtils
    without_origins = serializer.serialize(sent)
    assert len(without_origins) < len(serializer.serialize(in_full))
    arrived = serializer.deserialize(without_origins).value()
    assert dict(arrived.getPropsWithPrefix("")) == asked
    assert "a test" not in list(arrived.getPropertySources("retail.test"))
    assert arrived.size() == len(asked), "a default of Hadoop's was sent along"


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
