"""A candidate beside a generation that readers follow and of whose views the contract is gone."""

from dataclasses import replace

import pytest

from infra.settings import Settings, locate_root
from ops.cli import replay
from ops.generations.lifecycle import change, load_generations
from ops.generations.promotion import NotPromotable, create_candidate
from ops.generations.record import Generation, Generations, State
from ops.replay import candidates, readers
from ops.replay.plan import Plan
from pipelines.common.pipeline import load
from pipelines.engine.archive import ZERO
from tests.command import run_command
from tests.pipelines.generations import AT

pytestmark = [pytest.mark.thorough, pytest.mark.e2e]

NAME = "visits"
GONE = "public.analytics.visit.v1"


@pytest.fixture(scope="module")
def upgraded(kafka: Settings) -> Settings:
    """The code is newer than the generation that is promoted; its successor has caught up."""

    def add_promoted(generations: Generations) -> Generations:
        outputs = {GONE: f"{GONE}.g1"}
        return generations.plus(Generation(NAME, 1, State.PROMOTED, "0" * 64, AT, outputs))

    change(kafka, NAME, add_promoted)
    candidate = create_candidate(kafka, load(NAME), locate_root(), ZERO)
    change(kafka, NAME, lambda generations: generations.to(State.READY, candidate.number))
    return kafka


def test_its_successor_is_made_without_a_difference(
    upgraded: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No pipeline runs: the test stands for its start and for its way to the end of the log."""
    begun = replace(load_generations(upgraded, NAME).members[-1], state=State.CATCHING_UP)
    started = begun, Plan(records=0, disk_bytes=0, memory_bytes=0)
    monkeypatch.setattr(replay, "read_settings", lambda: upgraded)
    monkeypatch.setattr(candidates, "start", lambda *_: started)
    monkeypatch.setattr(replay, "show_catching_up", lambda *_: None)
    replay.start(NAME)
    said = " ".join(capsys.readouterr().out.split())
    assert f"Generation 1 of {NAME}, which readers follow" in said
    assert f"but has {GONE}: nothing can be compared with it" in said
    assert f"promote it retail replay promote {NAME}" in said


def test_whoever_asks_for_a_difference_hears_why_there_is_none(upgraded: Settings) -> None:
    asked = run_command(upgraded, "replay", "diff", NAME)
    assert asked.returncode == 1
    assert f"but has {GONE}" in " ".join(asked.stderr.split())


def test_another_candidate_that_comes_while_readers_load_is_not_promoted(
    upgraded: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = candidates.require_candidate(load_generations(upgraded, NAME))
    other = replace(meant, number=meant.number + 1)

    def exchange(*_: object) -> None:
        gone = frozenset({meant.number})
        change(upgraded, NAME, lambda generations: generations.minus(gone).plus(other))

    monkeypatch.setattr(readers, "await_loaded", exchange)
    found = f"Generation {meant.number} of {NAME} .* found generation {other.number}, ready"
    with pytest.raises(NotPromotable, match=found):
        candidates.promote(upgraded, NAME)
    assert candidates.require_promoted(load_generations(upgraded, NAME)).number == 1
