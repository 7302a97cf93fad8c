"""A generation that nobody reads leaves the cores to the one that is read."""

from threading import Event, Thread
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame

from pipelines.common import run
from pipelines.common.run import rested
from tests.waiting import wait_until

RECORDS = Mock(spec=DataFrame)
"""In place of a batch, which is only handed on."""


def test_it_rests_after_each_batch_but_the_first_until_it_is_told_to_hurry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "REST_SECONDS", 60.0)
    written: list[int] = []
    hurry = Event()
    write = rested(lambda _records, batch: written.append(batch), hurry)
    write(RECORDS, 0)
    resting = Thread(target=write, args=(RECORDS, 1))
    resting.start()
    wait_until(lambda: written == [0, 1], "the batch is written before the rest")
    assert resting.is_alive()
    hurry.set()
    resting.join(30)
    assert not resting.is_alive()
    write(RECORDS, 2)
    assert written == [0, 1, 2]
