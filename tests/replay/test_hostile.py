"""What a contract just lets through stops no pipeline, and its answer is the oracle's."""

import pytest

from pipelines.common.pipeline import list_pipelines
from pipelines.common.transform.full_sums import SUMS_IN_FULL
from tests.replay.checking import check
from tests.replay.hostile import build_hostile_log
from tests.replay.log import select_read
from tests.replay.playing import play
from tests.replay.running import InSession, Work
from tests.replay.schedule import Schedule
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.mark.parametrize("work", list_pipelines(), indirect=True)
def test_a_hostile_world_is_answered_as_by_the_oracle(work: Work, running: InSession) -> None:
    log = select_read(build_hostile_log(), work.pipeline)
    schedule = Schedule("hostile", chunks=2, kills=1, lead_ms=0, burst_max=500)
    play(log, schedule, running, create_random("hostile"))
    found = check(work)
    assert running.kills > 0
    assert sum(book.quarantined for book in found.books.values()) > 0
    in_full = [
        row for rows in found.rows.values() for row in rows.values() if row.get(SUMS_IN_FULL)
    ]
    assert bool(in_full) == any(
        field.name == SUMS_IN_FULL for view in work.pipeline.writes for field in view.fields
    )
