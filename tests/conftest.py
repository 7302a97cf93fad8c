"""The real parts, shared: one Spark session and one broker for each runner."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from infra.settings import Settings
from pipelines.engine.process import give_way
from pipelines.engine.session import start_session
from pipelines.engine.tuning.options import BATCHES_PER_WALK
from tests.brokers import broker, empty_broker

SHOPS = "tests/e2e/"
"""Here are the tests that start whole shops: two at once would be too slow for both."""

REAL_PARTS = ("spark", "e2e")
"""The marks of tests that wait for other processes."""

# A test's Java is over before thorough compiling of its code would pay.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")


def pytest_configure(config: pytest.Config) -> None:
    """Give the runners of pytest-xdist a main module with a file.

    Spark takes a process without such a module for its own doctests, and ends it.
    """
    if is_in_runner(config):
        sys.modules["__main__"].__file__ = __file__


def is_in_runner(config: pytest.Config) -> bool:
    """Whether this process runs some of the tests only, beside others."""
    return hasattr(config, "workerinput")


class FilesAndShops(LoadFileScheduling):
    """Each file is run by one runner, and all that start shops are."""

    def _split_scope(self, nodeid: str) -> str:
        return SHOPS if nodeid.startswith(SHOPS) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    return FilesAndShops(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where there are several runners, begin with the shops, then with what may take longest.

    What needs neither Spark nor a broker comes last: many short tests that fill each runner's end.
    """
    if is_in_runner(config):
        longest: dict[Path, float] = {}
        for item in items:
            marker = item.get_closest_marker("timeout")
            seconds = marker.args[0] if marker else 0
            longest[item.path] = max(seconds, longest.get(item.path, 0))
        real = {item.path for item in items if any(map(item.get_closest_marker, REAL_PARTS))}
        items.sort(
            key=lambda item: (item.nodeid.startswith(SHOPS), longest[item.path], item.path in real),
            reverse=True,
        )


def pytest_collection_finish() -> None:
    """Leave the thousands of tests out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark as the pipelines have it."""
    give_way()  # as they do: beside a shop it would take nearly all from it otherwise
    settings = Settings(data_dir=tmp_path_factory.mktemp("spark"), spark_master="local[2]")
    # What is due is freed soon: a test lives through few batches.
    shared = start_session(settings, "tests", more={BATCHES_PER_WALK: "2"})
    yield shared
    shared.stop()


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The broker that all tests of a runner are given, one module after the other."""
    with broker(tmp_path_factory.mktemp("broker")) as settings:
        yield settings


@pytest.fixture(scope="module")
def kafka(shared_broker: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings under which a broker answers, with every topic of the contracts, all empty."""
    return empty_broker(shared_broker, tmp_path_factory.mktemp("kafka"))
