"""Which rows are published, in which order and at what time: nothing ahead, nothing forgotten."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contracts import PRICE_CHANGES, RECEIPTS, Contract
from contracts.documents import to_document
from generators import load as module
from generators.load import LINE_BYTES_MAX, Rejected, Row, Validator, WorldTime, load, sort_rows
from infra.kafka import Outgoing
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NOON_MS = int(NOON.timestamp()) * 1000
RECEIPT = to_document(RECEIPTS, RECEIPTS.examples[0])
HOUR_MS = 3_600_000

STOPPED = AnnouncedClock(WorldClock(NOON_MS, 0, 1_000), ClockState.STOPPED, 1)
LIVE = WorldTime(STOPPED, NOON_MS, followed=True)
UNPACED = WorldTime(None, NOON_MS, followed=True)
UNREAD = WorldTime(None, NOON_MS, followed=False)
FRESH = WorldTime(None, None, followed=False)


def create_row(contract: Contract, happened: datetime, **changes: Any) -> Row:
    event = to_document(contract, contract.examples[0]) | {"event_time": happened.isoformat()}
    return 7, json.dumps(event | changes).encode()


@pytest.mark.parametrize(
    ("minutes", "world", "contract", "problem"),
    [
        (5, LIVE, RECEIPTS, None),
        (6, LIVE, RECEIPTS, "ahead of the world: at most 5 min from now"),
        (-120, LIVE, RECEIPTS, None),
        (-121, LIVE, RECEIPTS, "older than what readers remember: at most 2 h ago"),
        (-1, LIVE, PRICE_CHANGES, "older than what readers remember: at most 0 s ago"),
        (24 * 60, UNPACED, RECEIPTS, None),
        (-121, UNPACED, RECEIPTS, "older than what readers remember: at most 2 h ago"),
        (-9 * 24 * 60, UNREAD, RECEIPTS, None),
        (-9 * 24 * 60, FRESH, RECEIPTS, None),
    ],
)
def test_a_row_keeps_to_the_world_s_time_and_to_what_readers_remember(
    minutes: int, world: WorldTime, contract: Contract, problem: str | None
) -> None:
    happened = NOON + timedelta(minutes=minutes)
    found = Validator(contract, lambda: world).validate(create_row(contract, happened))
    if isinstance(found, Rejected):
        assert found.faults[0].problem == problem
    else:
        assert (problem, found.timestamp_ms) == (None, NOON_MS + minutes * 60_000)


@pytest.mark.parametrize(
    "line", [b"{half", b"[" * 60_000, b'"text"', b"7", b"\xff", b" " * LINE_BYTES_MAX + b"{}"]
)
def test_what_is_no_event_is_rejected_with_its_row(line: bytes) -> None:
    found = Validator(RECEIPTS, lambda: LIVE).validate((7, line))
    assert isinstance(found, Rejected)
    assert found.row == 7


def test_every_broken_rule_of_a_row_is_named() -> None:
    row = create_row(RECEIPTS, NOON, event_id="", lines=[])
    found = Validator(RECEIPTS, lambda: LIVE).validate(row)
    assert isinstance(found, Rejected)
    assert [fault.place for fault in found.faults] == ["event_id", "lines"]


def test_rows_in_flight_are_close_together_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[int]] = []

    def send_all(_: object, records: list[Outgoing]) -> list[tuple[int, int]]:
        sent.append([record.timestamp_ms - NOON_MS for record in records])
        return [(0, len(sent))]

    monkeypatch.setattr(module, "send_all", send_all)
    rows = [create_row(RECEIPTS, NOON + timedelta(minutes=at)) for at in (0, 30, 31, 300)]
    bad = (9, b"no event")
    rejected: list[Rejected] = []
    client: Any = SimpleNamespace()
    *_, loaded = load([*rows, bad], Validator(RECEIPTS, lambda: FRESH), client, rejected.append)
    assert sent == [[0, 30 * 60_000], [31 * 60_000], [300 * 60_000]]
    assert (loaded.rows, loaded.published, loaded.rejected, loaded.reached) == (5, 4, 1, {0: 3})
    assert [one.row for one in rejected] == [9]


def write_lines(file: Path, *lines: bytes) -> Path:
    file.write_bytes(b"\n".join(lines))
    return file


def render_row(second: int) -> bytes:
    return json.dumps({"event_time": f"2026-03-02T10:00:{second:02}.000Z"}).encode()


def test_lines_come_by_time_with_their_numbers(tmp_path: Path) -> None:
    elsewhere = b'{"event_time": "2026-03-02T11:00:04+01:00"}'
    lines = render_row(7), b"", render_row(3), b"  ", elsewhere, render_row(5), b""
    rows = list(sort_rows(write_lines(tmp_path / "a.jsonl", *lines), "event_time"))
    assert [(number, line.strip()) for number, line in rows] == [
        (3, render_row(3)),
        (5, elsewhere),
        (6, render_row(5)),
        (1, render_row(7)),
    ]


def test_what_has_no_time_comes_first_and_is_not_lost(tmp_path: Path) -> None:
    untimed = b'{"event_time": 7}', b'{"event_time": "2026-03-02"}', b"{}"
    lines = render_row(1), b"{half", b"[1]", *untimed, b"\xff", b"[" * 60_000, render_row(0)
    rows = sort_rows(write_lines(tmp_path / "a.ndjson", *lines), "event_time")
    assert [number for number, _ in rows] == [2, 3, 4, 5, 6, 7, 8, 9, 1]


def test_a_line_may_be_as_long_as_an_event_and_no_longer(tmp_path: Path) -> None:
    """Its line break counts."""
    sizes = [LINE_BYTES_MAX + size for size in (-1, 0, 1, 9 * LINE_BYTES_MAX)]
    lines = [render_row(number).ljust(size - 1) for number, size in enumerate(sizes)]
    blank = b" " * (2 * LINE_BYTES_MAX)
    file = write_lines(tmp_path / "a.jsonl", *lines, render_row(7), blank)
    by_number = dict(sort_rows(file, "event_time"))
    assert [by_number[number].strip() for number in (1, 2, 5)] == [
        render_row(0),
        render_row(1),
        render_row(7),
    ]
    assert max(map(len, by_number.values())) == LINE_BYTES_MAX + 1
    too_long = []
    for row in by_number.items():
        found = Validator(RECEIPTS, lambda: LIVE).validate(row)
        assert isinstance(found, Rejected)
        if found.faults[0].problem == f"a line of at most {LINE_BYTES_MAX} bytes":
            too_long.append(found.row)
    assert sorted(too_long) == [3, 4, 6]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert list(sort_rows(write_lines(tmp_path / "a.jsonl"), "event_time")) == []


BEAT_MS = NOON_MS + 540_000
SOON_MS = 2 * 60_000 + 10 * 10_000


@pytest.mark.parametrize(
    ("seconds", "state", "beat_ms", "newest_ms", "expected_ms"),
    [
        (60, ClockState.RUNNING, None, None, NOON_MS + 600_000),
        (60, ClockState.STOPPED, None, None, NOON_MS),
        (60, ClockState.RUNNING, BEAT_MS, None, NOON_MS + 600_000),
        (3600, ClockState.RUNNING, BEAT_MS, None, BEAT_MS + SOON_MS),
        (60, ClockState.RUNNING, None, NOON_MS + HOUR_MS, NOON_MS + HOUR_MS),
    ],
)
def test_world_time_runs_until_soon_after_the_last_beat_and_is_never_before_the_newest_event(
    seconds: int, state: ClockState, beat_ms: int | None, newest_ms: int | None, expected_ms: int
) -> None:
    """The clock showed noon at zero, and runs ten times as fast as the wall."""
    clock = AnnouncedClock(WorldClock(NOON_MS, 0, 10_000), state, 1, beat_ms)
    world = WorldTime(clock, newest_ms, followed=True)
    assert world.get_now_ms(lambda: seconds * 1000) == expected_ms


def test_without_a_clock_world_time_is_the_newest_event_s() -> None:
    assert UNPACED.get_now_ms() == NOON_MS
    assert FRESH.get_now_ms() is None
