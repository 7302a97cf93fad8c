"""A pace suits the backlog, and a batch is written by who suits it and knows every schema in it."""

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame

from contracts import PRODUCTS, STORES
from contracts.schemas import NEWER_LOCK, Entry, load_known, render_lock
from pipelines.common.pipeline import load
from pipelines.engine.backlog import Backlog
from pipelines.engine.fitness import Outgrown, refuse_larger
from pipelines.engine.pace import (
    LIVE_RECORDS_MAX,
    MARGIN,
    Pace,
    create_catching_up_pace,
    select_pace,
)
from pipelines.engine.pace import has_memory_for as reaches
from pipelines.engine.sink import NewerSchema, refuse_newer_before
from pipelines.inventory.pipeline import PIPELINE

HORIZON = timedelta(hours=2)
RECORDS_PER_BATCH_MAX = 1_000


def choose_pace(backlog: Backlog, batch_is_open: bool = False) -> Pace:
    return select_pace(PIPELINE.reads, backlog, RECORDS_PER_BATCH_MAX, batch_is_open)


spans = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=3650))


def test_a_live_batch_takes_all_there_is_and_one_that_catches_up_does_not() -> None:
    pace = choose_pace(Backlog(0, timedelta()))
    assert (pace.live, pace.memory) == (True, HORIZON + MARGIN)
    assert pace.records_per_batch_max is None
    much = Backlog(RECORDS_PER_BATCH_MAX + 1, timedelta())
    assert choose_pace(much).records_per_batch_max == RECORDS_PER_BATCH_MAX


@given(spans)
def test_what_fits_in_one_batch_is_read_live_however_long_it_took_and_no_more(
    span: timedelta,
) -> None:
    assert choose_pace(Backlog(RECORDS_PER_BATCH_MAX, span)).live
    assert not choose_pace(Backlog(RECORDS_PER_BATCH_MAX + 1, span)).live


def test_an_open_batch_may_end_anywhere_in_a_backlog_longer_than_the_margin() -> None:
    assert choose_pace(Backlog(1, MARGIN), batch_is_open=True).live
    assert not choose_pace(Backlog(1, MARGIN + timedelta(milliseconds=1)), batch_is_open=True).live


@given(spans)
def test_a_backlog_may_double_while_it_is_being_read_and_no_more(span: timedelta) -> None:
    pace = create_catching_up_pace(PIPELINE.reads, Backlog(1, span), RECORDS_PER_BATCH_MAX)
    assert reaches(pace, PIPELINE.reads, Backlog(9, 2 * span))
    assert not reaches(pace, PIPELINE.reads, Backlog(9, 2 * span + timedelta(milliseconds=1)))


@given(spans)
def test_the_watermark_never_passes_the_first_record_left_by_a_batch(span: timedelta) -> None:
    # The watermark is the newest event time less the memory; a record may be late by the horizon.
    closed, opened = Backlog(RECORDS_PER_BATCH_MAX + 1, span), Backlog(1, span)
    for left in (choose_pace(closed), choose_pace(opened, batch_is_open=True)):
        assert span - left.memory < -HORIZON


def test_a_longer_backlog_is_caught_up_with() -> None:
    for records, live in ((-1, True), (0, True), (1, False), (9 * LIVE_RECORDS_MAX, False)):
        backlog = Backlog(LIVE_RECORDS_MAX + records, timedelta())
        assert select_pace(PIPELINE.reads, backlog, 10 * LIVE_RECORDS_MAX).live == live


RECORDS = Mock(spec=DataFrame)
"""In place of a batch, which is only handed on."""


@pytest.mark.parametrize(
    ("records", "unread", "refused"),
    [
        (RECORDS_PER_BATCH_MAX - 1, 10 * RECORDS_PER_BATCH_MAX, False),
        (RECORDS_PER_BATCH_MAX, 10 * RECORDS_PER_BATCH_MAX, False),
        (RECORDS_PER_BATCH_MAX + 1, RECORDS_PER_BATCH_MAX, False),
        (RECORDS_PER_BATCH_MAX + 1, RECORDS_PER_BATCH_MAX + 1, True),
    ],
)
def test_a_live_query_ends_where_a_batch_of_a_backlog_would_be_smaller(
    records: int, unread: int, refused: bool
) -> None:
    """What is unread would be caught up with, or the next query would end in the same way."""
    written, backlog = list[int](), Backlog(unread, timedelta())
    write = refuse_larger(
        lambda _, batch: written.append(batch),
        lambda _: records,
        lambda: backlog,
        RECORDS_PER_BATCH_MAX,
    )
    with pytest.raises(Outgrown, match="1,001 records") if refused else nullcontext():
        write(RECORDS, 7)
    assert written == ([] if refused else [7])
    assert not refused or not choose_pace(backlog, batch_is_open=True).live


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
