"""The real parts, shared: one Spark session for all tests, one broker per test module."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from contracts import CONTRACTS
from infra.kafka import answers, apply_topics
from infra.settings import Settings
from pipelines.common.session import session
from tests.ports import free_port_base
from tests.processes import environment
from tests.waiting import wait_until


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
    where = Settings(data_dir=tmp_path_factory.mktemp("kafka"), port_base=free_port_base())
    broker = start_broker(where)
    try:
        wait_until(lambda: answers(where), "the broker answers", seconds_max=60)
        apply_topics(where, CONTRACTS)
        yield where
    finally:
        broker.kill()
        broker.wait(30)


def start_broker(where: Settings) -> "subprocess.Popen[bytes]":
    with (where.data_dir / "broker.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "infra.broker"], env=environment(where), stdout=log, stderr=log
        )
