"""The real parts, shared: one Spark session for each runner, one broker per test module."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.common.session import session
from tests.brokers import broker

TESTS = Path(__file__).parent
SHOPS = TESTS / "e2e"
"""Here are the tests that start whole shops: two at once would be too slow for both."""

# A test's Spark is over before thorough compiling of its code would pay.
os.environ.setdefault("SPARK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")


def pytest_configure(config: pytest.Config) -> None:
    """Give the runners of pytest-xdist a main module with a file.

    Spark takes a process without one for its own doctests, and ends it.
    """
    if in_runner(config):
        sys.modules["__main__"].__file__ = __file__


def in_runner(config: pytest.Config) -> bool:
    """Whether this process runs some of the tests only, beside others."""
    return hasattr(config, "workerinput")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let one runner take all shops, and each other file be run by one."""
    item.add_marker(pytest.mark.xdist_group(group(item)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where there are several runners, begin with what may take longest."""
    if in_runner(config):
        longest: dict[str, float] = {}
        for item in items:
            marker = item.get_closest_marker("timeout")
            seconds = marker.args[0] if marker else 0
            longest[group(item)] = max(seconds, longest.get(group(item), 0))
        items.sort(key=lambda item: longest[group(item)], reverse=True)


def group(item: pytest.Item) -> str:
    return "shops" if SHOPS in item.path.parents else str(item.path.relative_to(TESTS))


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
