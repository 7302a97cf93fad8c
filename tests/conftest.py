"""The real parts, shared: one Spark session for all tests, one broker per test module."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.common.session import session
from tests.brokers import broker

# A test's Spark is over before thorough compiling of its code would pay.
os.environ.setdefault("SPARK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark as the pipelines have it."""
    where = Settings(data_dir=tmp_path_factory.mktemp("spark"), spark_master="local[2]")
    shared = session(where, "tests")
    yield shared
    shared.stop()


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings under which a broker answers, with every topic of the contracts, all empty."""
    with broker(tmp_path_factory.mktemp("kafka")) as where:
        yield where
