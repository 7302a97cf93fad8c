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

SHOPS = Path(__file__).with_name("e2e")
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let one runner take the shops, and another the files beside them, the longest first."""
    if not in_runner(config):
        return
    longest: dict[str, float] = {}
    for item in items:
        group = "shops" if SHOPS in item.path.parents else str(item.path.relative_to(SHOPS.parent))
        item.add_marker(pytest.mark.xdist_group(group))
        marker = item.get_closest_marker("timeout")
        longest[group] = max(marker.args[0] if marker else 0, longest.get(group, 0))
    items.sort(key=lambda item: longest[of_group(item)], reverse=True)


def of_group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0])


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
