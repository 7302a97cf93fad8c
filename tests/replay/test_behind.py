"""A live query that has fallen behind catches up and is live again; its answer is the oracle's."""

import logging

import pytest

from pipelines.engine import fitness
from tests.replay.checking import check
from tests.replay.log import draw_log, select_read
from tests.replay.playing import play
from tests.replay.running import InSession, Work
from tests.replay.schedule import Schedule
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(900)]

UNREAD = 200


@pytest.mark.parametrize("work", ["fraud"], indirect=True)
def test_what_falls_behind_catches_up_and_is_live_again(
    work: Work,
    running: InSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Every batch counts as long. Fraud joins dimensions, which both paces read otherwise."""
    monkeypatch.setattr(fitness, "LIVE_SECONDS_MAX", 0.0)
    monkeypatch.setattr(fitness, "BEHIND_RECORDS_MIN", UNREAD)
    chance = create_random("behind")
    schedule = Schedule("behind", chunks=4, kills=1, lead_ms=0, burst_max=2 * UNREAD)
    with caplog.at_level(logging.INFO, "pipeline"):
        play(select_read(draw_log(chance), work.pipeline), schedule, running, chance)
    said = [record.getMessage() for record in caplog.records if record.name == "pipeline"]
    behind = [number for number, line in enumerate(said) if line == "fraud: behind"]
    assert behind
    assert said[behind[0] + 1].startswith("fraud catching up: ")
    assert any(line.startswith("fraud live: ") for line in said[behind[0] :])
    check(work)
