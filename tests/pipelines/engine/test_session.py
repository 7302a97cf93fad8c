"""The options of Spark's Java, held against Java itself."""

import os
import re
import shlex
import subprocess

import pytest
from pyspark.sql import SparkSession

from infra.java import locate_java
from infra.settings import Settings
from pipelines.engine.session import build_options, get_engine

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
