from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.common.backlog import Backlog
from pipelines.common.watermark import MARGIN, Pace, catching_up, pace
from pipelines.common.watermark import spans as reaches
from pipelines.inventory.pipeline import PIPELINE

HORIZON = timedelta(hours=2)
RECORDS_PER_BATCH_MAX = 1_000


def paced(backlog: Backlog) -> Pace:
    return pace(PIPELINE.reads, backlog, RECORDS_PER_BATCH_MAX)


spans = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=3650))


def test_nothing_to_read_is_live() -> None:
    now = paced(Backlog(0, timedelta()))
    assert (now.live, now.memory) == (True, HORIZON + MARGIN)


def test_a_live_batch_takes_all_there_is_and_one_that_catches_up_does_not() -> None:
    assert paced(Backlog(0, timedelta())).records_per_batch_max is None
    assert paced(Backlog(1, 2 * MARGIN)).records_per_batch_max == RECORDS_PER_BATCH_MAX


def test_a_backlog_longer_than_the_margin_is_caught_up_with() -> None:
    assert not paced(Backlog(1, MARGIN + timedelta(milliseconds=1))).live


def test_a_backlog_of_many_records_is_caught_up_with_however_short() -> None:
    assert not paced(Backlog(RECORDS_PER_BATCH_MAX + 1, timedelta())).live


@given(spans)
def test_a_backlog_may_double_while_it_is_being_read_and_no_more(span: timedelta) -> None:
    now = catching_up(PIPELINE.reads, Backlog(1, span), RECORDS_PER_BATCH_MAX)
    assert reaches(now, PIPELINE.reads, Backlog(9, 2 * span))
    assert not reaches(now, PIPELINE.reads, Backlog(9, 2 * span + timedelta(milliseconds=1)))


@given(spans)
def test_the_watermark_never_passes_the_first_record_of_a_backlog(span: timedelta) -> None:
    # The watermark is the newest event time less the memory; a record may be late by the horizon.
    oldest_event = -HORIZON
    newest_event = span
    assert newest_event - paced(Backlog(1, span)).memory < oldest_event
