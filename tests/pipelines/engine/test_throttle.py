"""Who rests for whom after a batch, and until when."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest
from pyspark.sql import DataFrame

from infra.settings import Settings
from infra.wait import wait_until
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.record import Generations, State
from pipelines.common.pipeline import load
from pipelines.engine import throttle as throttling
from pipelines.engine.query import compute_batch_seconds
from pipelines.engine.throttle import (
    REST_SECONDS,
    REST_SECONDS_MAX,
    YIELD_SECONDS,
    Throttle,
    compute_rest_after,
    compute_rest_seconds,
    throttle_write,
)
from tests.pipelines.generations import create_generations

UNDISTURBED = [REST_SECONDS, 0, REST_SECONDS]


def test_whom_readers_follow_rests_for_a_candidate_that_catches_up_and_for_nobody_else(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path)
    generations = create_generations(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    candidate = locate_folder(settings, generations.members[-1])
    candidate.mkdir(parents=True)

    def list_rests(of: Generations) -> list[float]:
        return [compute_rest_seconds(settings, of, generation) for generation in of.members]

    assert list_rests(generations) == UNDISTURBED, "nothing runs it"
    with lease.take(candidate):
        assert list_rests(generations) == [REST_SECONDS, YIELD_SECONDS, REST_SECONDS]
        for state in (State.READY, State.INVALID):
            assert list_rests(generations.to(state, 3)) == UNDISTURBED
        assert list_rests(generations.minus(frozenset({3}))) == UNDISTURBED[:2]
    assert list_rests(generations) == UNDISTURBED, "it was killed"


RECORDS = Mock(spec=DataFrame)
"""In place of a batch, which is only handed on."""


def test_it_rests_after_each_batch_but_the_first_until_it_is_told_to_hurry() -> None:
    written: list[int] = []
    throttle = Throttle()
    throttle.set(60.0)
    write = throttle_write(lambda _records, batch: written.append(batch), throttle, live=True)
    write(RECORDS, 0)
    resting = Thread(target=write, args=(RECORDS, 1))
    resting.start()
    wait_until(lambda: written == [0, 1], "the batch is written before the rest")
    assert resting.is_alive()
    throttle.set(0.0)
    resting.join(30)
    assert not resting.is_alive()
    write(RECORDS, 2)
    assert written == [0, 1, 2]


def test_one_that_catches_up_does_not_rest() -> None:
    written: list[int] = []
    throttle = Throttle()
    throttle.set(60.0)
    write = throttle_write(lambda _records, batch: written.append(batch), throttle, live=False)
    working = Thread(target=lambda: [write(RECORDS, number) for number in range(3)], daemon=True)
    working.start()
    working.join(30)
    assert not working.is_alive()
    assert written == [0, 1, 2]


@pytest.mark.parametrize(("own", "least", "expected"), [(0, 0, 0), (0, 2, 2), (5, 2, 5), (5, 9, 9)])
def test_batches_are_as_rare_as_the_pipeline_and_the_settings_want(
    own: int, least: int, expected: int
) -> None:
    pipeline = replace(load("inventory"), every=timedelta(seconds=own))
    settings = Settings(pipeline_seconds_per_batch_min=least)
    assert compute_batch_seconds(settings, pipeline) == expected


@pytest.mark.parametrize(
    ("busy", "share", "rest"),
    [(0.2, 1.0, 0.0), (0.2, 0.5, 0.2), (0.3, 0.25, 0.9), (60.0, 0.1, REST_SECONDS_MAX)],
)
def test_a_pipeline_rests_until_its_batches_have_taken_their_share(
    busy: float, share: float, rest: float
) -> None:
    assert compute_rest_after(busy, share) == pytest.approx(rest)


def test_it_rests_by_its_duty_cycle_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    throttle, clock = Mock(spec=Throttle), [0.0]
    monkeypatch.setattr(throttling, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def write_slowly(_records: DataFrame, _batch: int) -> None:
        clock[0] += 0.25

    write = throttle_write(write_slowly, throttle, live=True, duty_cycle=0.5)
    for batch in range(3):
        write(RECORDS, batch)
    assert throttle.wait.call_args_list == [call(0.25)] * 2, "after each batch but the first"
