"""The options of Spark's Java, held against Java itself."""

import os
import re
import shlex
import subprocess
from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.java import locate_java
from infra.settings import Settings
from pipelines.common.runtime.session import build_options, get_engine, prepare_session

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
    context = spark.sparkContext._jsc.sc()
    assert context.getClass().getName() == "retail.context.LeanContext"


@pytest.mark.spark
@pytest.mark.parametrize("live", [True, False])
def test_an_interpreted_operator_is_not_serialized_with_what_is_below_it(
    spark: SparkSession, live: bool
) -> None:
    session = spark.newSession()
    prepare_session(session, live=live)
    numbers = session.range(10).selectExpr("id % 3 as rest", "array(id, id) as twice")
    each = numbers.selectExpr("rest", "explode(twice) as one")
    sums = each.groupBy("rest").agg(F.sum("one").alias("sum")).sortWithinPartitions("sum")
    plan = [line.strip(" :+-*(0123456789)") for line in explain(sums).splitlines()]
    operators = ("HashAggregate", "Generate", "Sort")
    inputs = [below for above, below in pairwise(plan) if above.startswith(operators)]
    assert len(inputs) == 4
    assert {one.startswith("Boundary") for one in inputs} == {live}
    assert sorted(map(tuple, sums.collect())) == [(0, 36), (1, 24), (2, 30)]


def explain(rows: DataFrame) -> str:
    return str(rows._jdf.queryExecution().executedPlan().toString())
