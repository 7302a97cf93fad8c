"""Who waits for whom, and until when."""

from math import inf
from pathlib import Path

import pytest

from infra.settings import Settings
from pipelines.common.generations import lease
from pipelines.common.generations.generation import Generations, State
from pipelines.common.runtime.throttle import (
    REST_SECONDS,
    YIELD_SECONDS,
    is_paused,
    pause_others,
    rest_seconds,
)
from tests.pipelines.generations import known


@pytest.fixture
def where(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def beside(where: Settings) -> Generations:
    """A retired and a promoted one, and a candidate that wants to be alone."""
    all_of_it = known(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    candidate = all_of_it.known[-1]
    candidate.folder(where).mkdir(parents=True)
    pause_others(where, candidate)
    return all_of_it


def who_waits(where: Settings, of: Generations) -> list[int]:
    return [one.number for one in of.known if is_paused(where, of, one)]


def folder(where: Settings, of: Generations) -> Path:
    return of.known[-1].folder(where)


def test_all_but_the_candidate_wait_while_a_process_runs_it(
    where: Settings, beside: Generations
) -> None:
    assert who_waits(where, beside) == []
    with lease.take(folder(where, beside)):
        assert who_waits(where, beside) == [1, 2]
    assert who_waits(where, beside) == [], "it was killed"


@pytest.mark.parametrize("state", [State.READY, State.PROMOTED, State.INVALID])
def test_nobody_waits_once_it_has_caught_up_or_came_to_nothing(
    where: Settings, beside: Generations, state: State
) -> None:
    with lease.take(folder(where, beside)):
        assert who_waits(where, beside.to(state, 3)) == []


def test_nobody_waits_for_one_that_was_pruned(where: Settings, beside: Generations) -> None:
    with lease.take(folder(where, beside)):
        assert who_waits(where, beside.minus(frozenset({3}))) == []


def test_nobody_waits_for_one_that_did_not_ask_for_it(where: Settings) -> None:
    all_of_it = known(State.PROMOTED, State.CATCHING_UP)
    folder(where, all_of_it).mkdir(parents=True)
    with lease.take(folder(where, all_of_it)):
        assert who_waits(where, all_of_it) == []


def rests(where: Settings, of: Generations) -> list[float]:
    return [rest_seconds(where, of, one) for one in of.known]


def test_whom_readers_follow_rests_for_a_candidate_that_catches_up_and_for_nobody_else(
    where: Settings,
) -> None:
    all_of_it = known(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    folder(where, all_of_it).mkdir(parents=True)
    assert rests(where, all_of_it) == [REST_SECONDS, 0, REST_SECONDS], "nothing runs it"
    with lease.take(folder(where, all_of_it)):
        assert rests(where, all_of_it) == [REST_SECONDS, YIELD_SECONDS, REST_SECONDS]
        ready = all_of_it.to(State.READY, 3)
        assert rests(where, ready) == [REST_SECONDS, 0, REST_SECONDS]
        pause_others(where, all_of_it.known[-1])
        assert rests(where, all_of_it) == [inf, inf, REST_SECONDS]
