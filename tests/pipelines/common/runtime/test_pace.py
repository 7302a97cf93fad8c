from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.common.runtime.backlog import Backlog
from pipelines.common.runtime.pace import MARGIN, Pace, catching_up, pace
from pipelines.common.runtime.pace import spans as reaches
from pipelines.inventory.pipeline import PIPELINE

HORIZON = timedelta(hours=2)
RECORDS_PER_BATCH_MAX = 1_000


def paced(backlog: Backlog, batch_is_open: bool = False) -> Pace:
    return pace(PIPELINE.reads, backlog, RECORDS_PER_BATCH_MAX, batch_is_open)


spans = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=3650))


def test_nothing_to_read_is_live() -> None:
    now = paced(Backlog(0, timedelta()))
    assert (now.live, now.memory) == (True, HORIZON + MARGIN)


def test_a_live_batch_takes_all_there_is_and_one_that_catches_up_does_not() -> None:
    assert paced(Backlog(0, timedelta())).records_per_batch_max is None
    much = Backlog(RECORDS_PER_BATCH_MAX + 1, timedelta())
    assert paced(much).records_per_batch_max == RECORDS_PER_BATCH_MAX


@given(spans)
def test_what_fits_in_one_batch_is_read_live_however_long_it_took_to_happen(
    span: timedelta,
) -> None:
    assert paced(Backlog(RECORDS_PER_BATCH_MAX, span)).live


@given(spans)
def test_what_does_not_fit_in_one_batch_is_caught_up_with_however_short(span: timedelta) -> None:
    assert not paced(Backlog(RECORDS_PER_BATCH_MAX + 1, span)).live


def test_an_open_batch_may_end_anywhere_in_a_backlog_longer_than_the_margin() -> None:
    assert paced(Backlog(1, MARGIN), batch_is_open=True).live
    assert not paced(Backlog(1, MARGIN + timedelta(milliseconds=1)), batch_is_open=True).live


@given(spans)
def test_a_backlog_may_double_while_it_is_being_read_and_no_more(span: timedelta) -> None:
    now = catching_up(PIPELINE.reads, Backlog(1, span), RECORDS_PER_BATCH_MAX)
    assert reaches(now, PIPELINE.reads, Backlog(9, 2 * span))
    assert not reaches(now, PIPELINE.reads, Backlog(9, 2 * span + timedelta(milliseconds=1)))


@given(spans)
def test_the_watermark_never_passes_the_first_record_left_by_a_batch(span: timedelta) -> None:
    # The watermark is the newest event time less the memory; a record may be late by the horizon.
    oldest_event = -HORIZON
    newest_event = span
    for left in (
        paced(Backlog(RECORDS_PER_BATCH_MAX + 1, span)),
        paced(Backlog(1, span), batch_is_open=True),
    ):
        assert newest_event - left.memory < oldest_event
