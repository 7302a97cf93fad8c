"""Who waits for whom, and until when."""

from math import inf
from pathlib import Path

import pytest

from infra.settings import Settings
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.record import Generations, State
from pipelines.engine.throttle import (
    REST_SECONDS,
    YIELD_SECONDS,
    compute_rest_seconds,
    is_paused,
    pause_others,
)
from tests.pipelines.generations import create_generations


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def beside(settings: Settings) -> Generations:
    """A retired and a promoted one, and a candidate that wants to be alone."""
    all_of_it = create_generations(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    candidate = all_of_it.known[-1]
    locate_folder(settings, candidate).mkdir(parents=True)
    pause_others(settings, candidate)
    return all_of_it


def list_waiting(settings: Settings, of: Generations) -> list[int]:
    return [one.number for one in of.known if is_paused(settings, of, one)]


def locate_last(settings: Settings, of: Generations) -> Path:
    return locate_folder(settings, of.known[-1])


def test_all_but_the_candidate_wait_while_a_process_runs_it(
    settings: Settings, beside: Generations
) -> None:
    assert list_waiting(settings, beside) == []
    with lease.take(locate_last(settings, beside)):
        assert list_waiting(settings, beside) == [1, 2]
    assert list_waiting(settings, beside) == [], "it was killed"


@pytest.mark.parametrize("state", [State.READY, State.PROMOTED, State.INVALID])
def test_nobody_waits_once_it_has_caught_up_or_came_to_nothing(
    settings: Settings, beside: Generations, state: State
) -> None:
    with lease.take(locate_last(settings, beside)):
        assert list_waiting(settings, beside.to(state, 3)) == []


def test_nobody_waits_for_one_that_was_pruned(settings: Settings, beside: Generations) -> None:
    with lease.take(locate_last(settings, beside)):
        assert list_waiting(settings, beside.minus(frozenset({3}))) == []


def test_nobody_waits_for_one_that_did_not_ask_for_it(settings: Settings) -> None:
    all_of_it = create_generations(State.PROMOTED, State.CATCHING_UP)
    locate_last(settings, all_of_it).mkdir(parents=True)
    with lease.take(locate_last(settings, all_of_it)):
        assert list_waiting(settings, all_of_it) == []


def list_rests(settings: Settings, of: Generations) -> list[float]:
    return [compute_rest_seconds(settings, of, one) for one in of.known]


def test_whom_readers_follow_rests_for_a_candidate_that_catches_up_and_for_nobody_else(
    settings: Settings,
) -> None:
    all_of_it = create_generations(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    locate_last(settings, all_of_it).mkdir(parents=True)
    assert list_rests(settings, all_of_it) == [REST_SECONDS, 0, REST_SECONDS], "nothing runs it"
    with lease.take(locate_last(settings, all_of_it)):
        assert list_rests(settings, all_of_it) == [REST_SECONDS, YIELD_SECONDS, REST_SECONDS]
        ready = all_of_it.to(State.READY, 3)
        assert list_rests(settings, ready) == [REST_SECONDS, 0, REST_SECONDS]
        pause_others(settings, all_of_it.known[-1])
        assert list_rests(settings, all_of_it) == [inf, inf, REST_SECONDS]
