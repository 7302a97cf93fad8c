"""The limit of heartbeats follows the announced clock, and lets every batch end."""

from itertools import chain, repeat
from threading import Event
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from contracts import HEARTBEATS
from contracts.times import MILLISECOND
from infra.settings import Settings
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock
from pipelines.engine import backlog, beats, query
from pipelines.engine.beats import LOOK_SECONDS, SKEW, BeatLimit
from pipelines.engine.query import watch

NOW_MS = 1_800_000_000_000
WORLD_MS = 1_772_000_000_000
RUNNING = AnnouncedClock(WorldClock(WORLD_MS, NOW_MS, 10_000), ClockState.RUNNING, seed=1)
STOPPED = AnnouncedClock(WorldClock(WORLD_MS, NOW_MS, 10_000), ClockState.STOPPED, seed=1)


def announce(world_ms: int, wall_ms: int, speed_milli: int = 10_000) -> AnnouncedClock:
    return AnnouncedClock(WorldClock(world_ms, wall_ms, speed_milli), ClockState.RUNNING, seed=1)


@pytest.mark.parametrize(
    ("before", "announced", "is_outdated"),
    [
        (RUNNING, RUNNING, False),
        (RUNNING, announce(WORLD_MS + 500_000, NOW_MS + 60_000), False),
        (RUNNING, announce(WORLD_MS + 300_000, NOW_MS + 60_000), False),
        (RUNNING, announce(WORLD_MS + 299_999, NOW_MS + 60_000), True),
        (RUNNING, announce(WORLD_MS, NOW_MS, 15_001), True),
        (RUNNING, STOPPED, True),
        (STOPPED, RUNNING, True),
        (STOPPED, STOPPED, False),
        (RUNNING, None, True),
        (None, RUNNING, True),
        (None, None, False),
    ],
)
def test_a_clock_that_was_set_back_a_little_is_still_the_same(
    monkeypatch: pytest.MonkeyPatch,
    before: AnnouncedClock | None,
    announced: AnnouncedClock | None,
    is_outdated: bool,
) -> None:
    monkeypatch.setattr(beats, "read_clock", lambda _settings: announced)
    monkeypatch.setattr(beats, "get_wall_ms", lambda: NOW_MS + 60_000)
    monkeypatch.setattr(beats, "time", SimpleNamespace(monotonic=lambda: 1_000.0))
    limit = BeatLimit(Settings(), before, looked_at=1_000.0 - LOOK_SECONDS)
    assert limit.is_outdated() is is_outdated
    assert not limit.is_outdated(), "it looks once in a while"


@pytest.mark.parametrize(
    ("announced", "limit_ms"),
    [
        (RUNNING, WORLD_MS + 600_000),
        (STOPPED, NOW_MS + 60_000),
        (announce(NOW_MS + 120_000, NOW_MS), NOW_MS + 720_000),
        (None, NOW_MS + 60_000),
    ],
)
def test_a_heartbeat_of_another_year_makes_no_backlog_of_centuries(
    monkeypatch: pytest.MonkeyPatch, announced: AnnouncedClock | None, limit_ms: int
) -> None:
    limit_ms += SKEW // MILLISECOND
    monkeypatch.setattr(beats, "get_wall_ms", lambda: NOW_MS + 60_000)
    newest = {HEARTBEATS.name: WORLD_MS}
    monkeypatch.setattr(backlog, "read_newest_ms", lambda _client, _topics: newest)

    def read() -> int | None:
        limit = BeatLimit(Settings(), announced, looked_at=0.0)
        return backlog.read_world_ms(AdminClient({}), [HEARTBEATS.name], limit)

    assert read() == WORLD_MS
    newest[HEARTBEATS.name] = limit_ms + 1
    assert read() == limit_ms


@pytest.mark.spark
@pytest.mark.parametrize("announced", [RUNNING, STOPPED, announce(2 * NOW_MS, NOW_MS), None])
def test_spark_asks_for_the_limit_at_each_row(
    spark: SparkSession, announced: AnnouncedClock | None
) -> None:
    limit = BeatLimit(Settings(), announced, looked_at=0.0)
    for _ in range(2):
        before_ms = limit.find_ms()
        asked = spark.range(1).select(F.unix_millis(limit.build_column(spark)).alias("ms"))
        row, after_ms = asked.first(), limit.find_ms()
        assert row is not None
        assert before_ms <= row["ms"] <= after_ms


def test_a_query_that_is_outdated_ends_after_its_batch_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its first batch takes three looks, and its second one for ever."""
    monkeypatch.setattr(query, "LOOK_SECONDS", 0)
    batches, begun = Mock(), Event()
    batches.awaitTermination.return_value = False
    batches._jsq.lastProgress.side_effect = chain([None, None], repeat(Mock()))
    watch(batches, Event(), begun.set, Mock(), lambda: True)
    assert batches.awaitTermination.call_count == 3
    assert begun.is_set()
