"""A live query leaves its pace when its batches are long and much is unread, and not otherwise."""

from contextlib import nullcontext
from datetime import timedelta
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame

from pipelines.engine import fitness
from pipelines.engine.backlog import Backlog
from pipelines.engine.fitness import (
    BEHIND_RECORDS_MIN,
    LIVE_SECONDS_MAX,
    FallenBehind,
    refuse_behind,
)

RECORDS = Mock(spec=DataFrame)
"""In place of a batch, which is only handed on."""


@pytest.mark.parametrize(
    ("seconds", "unread", "refused"),
    [
        (LIVE_SECONDS_MAX - 1, 10 * BEHIND_RECORDS_MIN, False),
        (LIVE_SECONDS_MAX, 10 * BEHIND_RECORDS_MIN, False),
        (LIVE_SECONDS_MAX + 1, BEHIND_RECORDS_MIN - 1, False),
        (LIVE_SECONDS_MAX + 1, BEHIND_RECORDS_MIN, True),
        (LIVE_SECONDS_MAX + 1, BEHIND_RECORDS_MIN + 1, True),
        (10 * LIVE_SECONDS_MAX, 10 * BEHIND_RECORDS_MIN, True),
    ],
)
def test_a_live_query_is_behind_after_a_long_batch_with_much_unread(
    seconds: float, unread: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, written = [0.0], list[int]()
    monkeypatch.setattr(fitness, "monotonic", lambda: clock[0])

    def write(_: DataFrame, batch: int) -> None:
        written.append(batch)
        clock[0] += seconds

    checked = refuse_behind(write, lambda: Backlog(unread, timedelta()))
    checked(RECORDS, 0)
    with pytest.raises(FallenBehind) if refused else nullcontext():
        checked(RECORDS, 1)
    assert written == ([0] if refused else [0, 1])


def test_it_does_not_look_at_the_log_after_a_short_batch() -> None:
    def measure() -> Backlog:
        raise AssertionError

    checked = refuse_behind(lambda _records, _batch: None, measure)
    for batch in range(3):
        checked(RECORDS, batch)
