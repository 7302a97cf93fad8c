import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner

from contracts import ALERTS, HEARTBEATS, RECEIPTS, REFUNDS
from generators.simulator import simulate
from infra.kafka import KafkaDown, create_admin, read_end_offsets
from infra.settings import Settings
from ops.cli import score
from ops.cli.main import build_application
from ops.verify.fraud_score import BEATS, compute_scores, read_heartbeat, read_incidents
from ops.verify.inventory import Row
from ops.verify.oracles import ask_oracle
from ops.verify.served import ApiDown
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources, serving
from tests.services.writing import Writing, promote
from tests.worlds import shrink_world


@pytest.fixture(scope="module")
def world(kafka: Settings) -> Settings:
    """A day with much fraud in it, published."""
    rates = {f"simulator_{kind}_rate": 0.004 for kind in ("fraud", "look_alike")}
    settings = shrink_world(kafka, 3, 120, 2.0, **rates)
    simulate(settings, Event(), backfill_days=1, live=False)
    return settings


def test_what_is_served_is_scored(
    world: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    read = [RECEIPTS.name, REFUNDS.name, HEARTBEATS.name]
    ends = read_end_offsets(create_admin(world), read)
    alerts = ask_oracle("fraud", world, ends).compute_view()
    writing = Writing(log := MemoryLog(), pipeline="fraud", views=(ALERTS,))
    writing.read |= ends
    with shop(world, log, writing, alerts, tmp_path) as settings:
        monkeypatch.setattr(score, "read_settings", lambda: settings)
        answer = CliRunner().invoke(build_application(), ["score", "fraud"])
    scores = compute_scores(alerts, read_incidents(world), read_heartbeat(world, ends[BEATS]))
    assert scores.total.recall.of > 10
    assert scores.total.recall.share > 0.5
    assert len(scores.total.to_decide) == scores.total.recall.hits
    capsys.readouterr()
    score.show(scores)
    assert answer.output == capsys.readouterr().out
    assert (answer.exit_code == 0) == scores.good


def test_alerts_that_are_not_served_are_missed(
    world: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    writing = Writing(log := MemoryLog(), pipeline="fraud", views=(ALERTS,))
    writing.read |= read_end_offsets(create_admin(world), [HEARTBEATS.name])
    with shop(world, log, writing, [], tmp_path) as settings:
        monkeypatch.setattr(score, "read_settings", lambda: settings)
        answer = CliRunner().invoke(build_application(), ["score", "fraud"])
    assert answer.exit_code == 1
    assert re.search(r"all +0/[1-9]\d* +0\.0%", answer.output)
    assert "NOT REACHED" in answer.output


@contextmanager
def shop(
    world: Settings, log: MemoryLog, fraud: Writing, alerts: list[Row], folder: Path
) -> Iterator[Settings]:
    """Where the API serves these alerts as the fraud pipeline's."""
    for row in alerts:
        fraud.put(ALERTS, **row)
    fraud.mark()
    promote(log, fraud)
    with serving(create_sources(log, folder)) as api:
        port = int(api.ready(pipeline="fraud").address.rsplit(":", 1)[1])
        yield world.model_copy(
            update={"port_base": port, "kafka_bootstrap_servers": world.bootstrap_servers}
        )


def test_what_does_not_answer_is_said(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Settings(kafka_bootstrap_servers="127.0.0.1:1")
    for settings, error in ((nowhere, KafkaDown), (kafka, ApiDown)):
        monkeypatch.setattr(score, "read_settings", lambda found=settings: found)
        answer = CliRunner().invoke(build_application(), ["score", "fraud"])
        assert isinstance(answer.exception, error)
