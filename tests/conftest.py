"""The real parts, shared: one Spark session for each runner, one broker per test module."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.common.session import session
from tests.brokers import broker


def pytest_configure(config: pytest.Config) -> None:
    """Give the runners of pytest-xdist a main module with a file.

    Spark takes a process without one for its own doctests, and ends it.
    """
    if in_runner(config):
        sys.modules["__main__"].__file__ = __file__


def in_runner(config: pytest.Config) -> bool:
    """Whether this process runs some of the tests only, beside others."""
    return hasattr(config, "workerinput")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several files run at once, begin with those that may take longest."""
    if in_runner(config):
        longest: dict[Path, float] = {}
        for item in items:
            marker = item.get_closest_marker("timeout")
            seconds = marker.args[0] if marker else 0
            longest[item.path] = max(seconds, longest.get(item.path, 0))
        items.sort(key=lambda item: longest[item.path], reverse=True)


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
