"""A difference is computed once, beside the catching up where the log is short."""

from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

from control.generations import Generation, State
from infra.errors import UserError
from infra.settings import Settings
from pipelines.common.generations.folders import locate_checkpoint
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.runtime.pace import LIVE_RECORDS_MAX
from replay import candidates
from replay.ahead import DifferenceAhead
from replay.compare import Compared

CANDIDATE = Generation("fraud", 2, State.CATCHING_UP, "9f31", datetime(2026, 3, 2, tzinfo=UTC), {})
WAIT_SECONDS_MAX = 30.0


class Differences:
    """Stands for the comparison, and counts how often it was asked for."""

    def __init__(self, failures: int = 0) -> None:
        self.asked = Event()
        self.count = 0
        self._failures = failures

    def diff(self, _: Settings, pipeline: Pipeline) -> Compared:
        self.count += 1
        self.asked.set()
        if self.count <= self._failures:
            raise UserError("it is not there yet")
        return Compared(pipeline.name, "generation 1", "generation 2", "marker 3", self.count, ())


def begin_batch(settings: Settings) -> None:
    """As Spark does when the candidate's first batch is planned."""
    offsets = Path(str(locate_checkpoint(settings, CANDIDATE).folder)) / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").touch()


def ahead(
    settings: Settings, records: int, monkeypatch: pytest.MonkeyPatch, failures: int = 0
) -> tuple[DifferenceAhead, Differences]:
    differences = Differences(failures)
    monkeypatch.setattr(candidates, "diff", differences.diff)
    return DifferenceAhead(settings, load("fraud"), CANDIDATE, records), differences


def test_it_is_computed_once_the_first_batch_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path)
    early, differences = ahead(settings, LIVE_RECORDS_MAX, monkeypatch)
    assert not differences.asked.is_set()
    begin_batch(settings)
    assert differences.asked.wait(WAIT_SECONDS_MAX)
    assert early.finish().records == 1
    assert differences.count == 1


def test_a_long_log_is_compared_when_the_candidate_has_caught_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path)
    begin_batch(settings)
    late, differences = ahead(settings, LIVE_RECORDS_MAX + 1, monkeypatch)
    assert differences.count == 0
    assert late.finish().records == 1


def test_what_failed_ahead_is_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path)
    begin_batch(settings)
    early, _ = ahead(settings, 1, monkeypatch, failures=1)
    assert early.finish().records == 2
    again, _ = ahead(settings, 1, monkeypatch, failures=2)
    with pytest.raises(UserError, match="not there yet"):
        again.finish()
