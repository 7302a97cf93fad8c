"""A batch is written at a pace that suits, and by who knows every schema that may be in it."""

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame

from contracts import PRODUCTS, STORES
from contracts.schemas import NEWER_LOCK, Entry, load_known, render_lock
from pipelines.common.pipeline import load
from pipelines.engine import fitness
from pipelines.engine.backlog import Backlog
from pipelines.engine.fitness import (
    BEHIND_RECORDS_MIN,
    LIVE_SECONDS_MAX,
    FallenBehind,
    refuse_behind,
)
from pipelines.engine.sink import NewerSchema, refuse_newer_before

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


ANALYTICS = load("analytics")


@pytest.fixture
def written() -> list[int]:
    """The batches that were written."""
    return []


def tell(topic: str, folder: Path, patch: pytest.MonkeyPatch) -> int:
    """Give a schema of the topic the next id, in a lock beside the code's."""
    entries = load_known()  # is loaded by then
    added = Entry(len(entries) + 1, topic, {"type": "record"})
    file = folder / "schemas.lock.json"
    file.write_text(render_lock((*entries, added)))
    patch.setenv(NEWER_LOCK, str(file))
    return added.id


@pytest.mark.parametrize("topic", [ANALYTICS.reads[0].name, PRODUCTS.name], ids=["read", "side"])
def test_a_schema_of_what_it_reads_that_it_has_not_loaded_stops_it(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    write = refuse_newer_before(ANALYTICS, lambda _, batch: written.append(batch))
    write(RECORDS, 0)
    number = tell(topic, tmp_path, monkeypatch)
    with pytest.raises(NewerSchema, match=rf"analytics .* the lock file has {number} by now"):
        write(RECORDS, 1)
    assert written == [0]


def test_a_schema_of_what_it_does_not_read_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    tell(STORES.name, tmp_path, monkeypatch)
    refuse_newer_before(ANALYTICS, lambda _, batch: written.append(batch))(RECORDS, 0)
    assert written == [0]
