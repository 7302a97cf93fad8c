"""A generation that falls behind, and a log that grows while one catches up with it."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from contracts.times import MILLISECOND
from infra.kafka import Offsets
from infra.settings import Settings
from infra.wait import wait_until
from pipelines.common.pipeline import load
from pipelines.engine import backlog
from pipelines.engine.backlog import Backlog
from pipelines.engine.beats import BeatLimit
from pipelines.engine.pace import MARGIN
from tests.brokers import empty_broker
from tests.replay.answer import check
from tests.replay.log import SPOILT_BEATS, draw_log, select_read
from tests.replay.playing import Schedule, interleave, play, publish, see_through
from tests.replay.running import InSession, create_work
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(900)]

AT_ONCE = 200
"""Records of a batch, of the first test."""
FIRST = timedelta(hours=4)
BATCHES_MIN = 3
"""Of the four hours: it catches up with them."""
GROWTH_SECONDS_MAX = 120


def test_who_gets_more_than_a_batch_catches_up_and_is_live_again(
    shared_broker: Settings,
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Fraud joins dimensions, which both paces read otherwise."""
    small = {"pipeline_records_per_batch_max": AT_ONCE}
    work = create_work(empty_broker(shared_broker, tmp_path).model_copy(update=small), "fraud")
    chance = create_random("behind")
    schedule = Schedule("behind", chunks=4, kills=1, lead_ms=0, burst_max=2 * AT_ONCE)
    running = InSession(work, spark, monkeypatch)
    with caplog.at_level(logging.INFO, "pipeline"):
        play(select_read(draw_log(chance), work.pipeline), schedule, running, chance)
    said = [record.getMessage() for record in caplog.records if record.name == "pipeline"]
    behind = [number for number, line in enumerate(said) if line.endswith("a batch has up to 200")]
    assert behind
    assert said[behind[0] + 1].startswith("fraud catching up: ")
    assert any(line.startswith("fraud live: ") for line in said[behind[0] :])
    check(work)


def test_what_was_published_after_the_look_at_the_backlog_is_not_forgotten(
    kafka: Settings, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hours are looked at, sixteen more are there when the query starts."""
    chance = create_random("growth")
    apart = Schedule("apart", chunks=1, kills=0, lead_ms=MARGIN // MILLISECOND, burst_max=50)
    # A heartbeat of another year in the backlog is a memory of months.
    spoilt = {world_ms for beats in SPOILT_BEATS.values() for world_ms in beats}
    drawn = [entry for entry in draw_log(chance) if entry.published_ms not in spoilt]
    log = select_read(interleave(drawn, apart, chance), load("inventory"))
    began_ms = log[0].published_ms
    first = next(
        number
        for number, entry in enumerate(log)
        if entry.published_ms > began_ms + FIRST // MILLISECOND
    )
    publish(kafka, log[:first])
    looks: list[timedelta] = []

    def look(settings: Settings, topics: list[str], read: Offsets, limit: BeatLimit) -> Backlog:
        behind = backlog.measure_backlog(settings, topics, read, limit)
        if not looks:
            publish(settings, log[first:])
        looks.append(behind.span)  # which says that the log has grown
        return behind

    monkeypatch.setattr("pipelines.engine.query.measure_backlog", look)
    small = {
        "pipeline_records_per_batch_max": first // BATCHES_MIN // load("inventory").batch_multiple
    }
    running = InSession(
        create_work(kafka.model_copy(update=small), "inventory"), spark, monkeypatch
    )
    try:
        running.ensure_running()
        wait_until(lambda: bool(looks), "the log has grown", GROWTH_SECONDS_MAX)
        see_through(running)
    finally:
        running.stop()
    assert MARGIN < looks[0] < looks[1] / 2
    check(running.work)
