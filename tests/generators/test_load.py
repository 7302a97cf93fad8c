"""Which rows are published, and at what time: nothing ahead, nothing forgotten."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import PRICE_CHANGES, RECEIPTS, Contract, decode
from contracts.documents import to_document
from generators.load import Moment, Rejected, Stamp, Validator, check
from generators.rows import Row
from generators.world_time import WorldTime
from infra.identities import Identities
from infra.kafka import Outgoing
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NOON_MS = int(NOON.timestamp()) * 1000
RECEIPT = to_document(RECEIPTS, RECEIPTS.examples[0])
HOUR_MS = 3_600_000

LIVE = Moment(NOON_MS, paced=True, remembered=True)
UNPACED = Moment(NOON_MS, paced=False, remembered=True)
FRESH = Moment(None, paced=False, remembered=False)
UNREAD = Moment(NOON_MS, paced=False, remembered=False)


def validate_row(
    happened: datetime,
    at: Moment = LIVE,
    stamp: Stamp = Stamp.EVENT,
    contract: Contract = RECEIPTS,
    **changes: Any,
) -> Outgoing | str:
    """The record, or the first problem."""
    event = to_document(contract, contract.examples[0]) | {"event_time": happened.isoformat()}
    row = Row(1, json.dumps(event | changes), {}, None)
    found = Validator(contract, stamp, lambda: at).validate(row)
    return found.faults[0].problem if isinstance(found, Rejected) else found


def validate_published_ms(*given: Any, **more: Any) -> int:
    found = validate_row(*given, **more)
    assert isinstance(found, Outgoing), found
    return found.timestamp_ms


@pytest.mark.parametrize(
    ("minutes", "problem"),
    [
        (5, None),
        (6, "ahead of the world: at most 5 min from now"),
        (-120, None),
        (-121, "older than what readers remember: at most 2 h ago"),
    ],
)
def test_beside_a_living_world_a_row_keeps_to_what_readers_remember(
    minutes: int, problem: str | None
) -> None:
    found = validate_row(NOON + timedelta(minutes=minutes))
    assert found == problem if problem else isinstance(found, Outgoing)


def test_before_a_pipeline_reads_nothing_is_forgotten() -> None:
    assert validate_published_ms(NOON - timedelta(days=9), UNREAD) == NOON_MS - 9 * 24 * HOUR_MS


def test_without_a_world_clock_the_file_may_go_on_in_time_but_not_back() -> None:
    assert validate_published_ms(NOON + timedelta(days=1), UNPACED) == NOON_MS + 24 * HOUR_MS
    assert "older than" in str(validate_row(NOON - timedelta(hours=3), UNPACED))


def test_a_check_before_the_load_counts_nothing_and_names_nobody(tmp_path: Path) -> None:
    with closing(Identities(tmp_path)) as lookup:
        validator = Validator(RECEIPTS, Stamp.NOW, lambda: LIVE, lookup)
        event = RECEIPT | {"event_time": (NOON - timedelta(hours=3)).isoformat()}
        row = Row(1, json.dumps(event), {}, None)
        assert check([row], validator, lambda _: None).rows == 1
        assert validator.late == 0
        lookup.save()
        assert lookup.find(RECEIPT["customer_id"]) is None
        found = validator.validate(row)
        assert isinstance(found, Outgoing)
        sold = decode(found.value).value
        assert (sold["customer_id"], sold["card_token"]) == tuple(
            lookup.replace(RECEIPT)[name] for name in ("customer_id", "card_token")
        )


def test_stamped_now_a_row_ahead_of_the_world_is_refused_all_the_same() -> None:
    assert "ahead of the world" in str(validate_row(NOON + timedelta(hours=1), stamp=Stamp.NOW))


def test_where_a_topic_has_no_horizon_nothing_is_announced_into_the_past() -> None:
    earlier = NOON - timedelta(seconds=1)
    assert "at most 0 s ago" in str(validate_row(earlier, contract=PRICE_CHANGES))
    assert validate_published_ms(earlier, stamp=Stamp.NOW, contract=PRICE_CHANGES) == NOON_MS


@pytest.mark.parametrize("text", ["{half", "[" * 60_000, '"text"', "7"])
def test_what_is_no_event_is_rejected_with_its_row(text: str) -> None:
    found = Validator(RECEIPTS, Stamp.EVENT, lambda: LIVE).validate(Row(7, text, {}, None))
    assert isinstance(found, Rejected)
    assert found.row == 7


def test_every_broken_rule_of_a_row_is_named() -> None:
    row = Row(1, json.dumps(RECEIPT | {"event_id": "", "lines": []}), {}, None)
    found = Validator(RECEIPTS, Stamp.EVENT, lambda: LIVE).validate(row)
    assert isinstance(found, Rejected)
    assert [fault.place for fault in found.faults] == ["event_id", "lines"]


def find_world_ms(
    wall_seconds: int,
    *,
    running: bool = True,
    beat_ms: int | None = None,
    newest_ms: int | None = None,
) -> int | None:
    """World time so long after the clock, ten times as fast as the wall, showed noon."""
    state = ClockState.RUNNING if running else ClockState.STOPPED
    clock = AnnouncedClock(WorldClock(NOON_MS, 0, 10_000), state, 1, beat_ms)
    return WorldTime(clock, newest_ms, followed=True).get_now_ms(lambda: wall_seconds * 1000)


def test_world_time_runs_while_the_simulator_beats() -> None:
    assert find_world_ms(60) == NOON_MS + 600_000
    assert find_world_ms(60, running=False) == NOON_MS
    assert find_world_ms(60, beat_ms=NOON_MS + 540_000) == NOON_MS + 600_000


def test_world_time_stands_soon_after_the_last_beat() -> None:
    soon_ms = 2 * 60_000 + 10 * 10_000
    assert find_world_ms(3600, beat_ms=NOON_MS + 540_000) == NOON_MS + 540_000 + soon_ms


def test_world_time_is_never_before_the_newest_event() -> None:
    assert find_world_ms(60, newest_ms=NOON_MS + HOUR_MS) == NOON_MS + HOUR_MS
    assert WorldTime(None, NOON_MS, followed=True).get_now_ms() == NOON_MS
    assert WorldTime(None, None, followed=True).get_now_ms() is None
