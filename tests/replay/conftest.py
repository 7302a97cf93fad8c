from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.settings import Settings
from tests.brokers import empty_broker
from tests.replay.running import InSession, Work, create_work


@pytest.fixture
def work(request: pytest.FixtureRequest, shared_broker: Settings, tmp_path: Path) -> Work:
    """The first generation of a pipeline, by default the inventory, on a broker whose topics are
    empty.
    """
    return create_work(
        empty_broker(shared_broker, tmp_path), getattr(request, "param", "inventory")
    )


@pytest.fixture
def running(
    work: Work, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InSession]:
    runs = InSession(work, spark, monkeypatch)
    yield runs
    runs.stop()
