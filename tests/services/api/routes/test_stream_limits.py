"""The limits of a stream: a slow reader, a quiet view, a server that stops, too many readers."""

import asyncio
from pathlib import Path

import pytest

from contracts import STOCK_LEVELS
from services.api.http.sources import Sources
from services.api.routes import stream
from services.api.routes.stream import Position, render_events
from services.api.store import changes
from tests.services.following import following
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.writing import Writing, invalidate


@pytest.fixture
def sources(log: MemoryLog, tmp_path: Path) -> Sources:
    return create_sources(log, tmp_path)


def enter(api: Answers, sources: Sources) -> Position:
    """A reader's place, after the event that says where to begin."""
    api.ready()
    place = Position(sources.store, STOCK_LEVELS.name, None)
    begin = place.find_next()
    assert begin is not None
    assert begin.kind == "reset"
    return place


def test_a_reader_that_is_too_slow_is_told_so_and_cut_off(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "ROWS_KEPT_MAX", 4)
    with serving(sources) as api:
        slow = enter(api, sources)
        for units in range(4):
            empty.row(1, "A", units, version=units + 1)
            api.ready(empty.mark())
        last = slow.find_next()
    assert last is not None
    assert last.kind == "end"
    assert stream.TOO_SLOW in last.data


def test_a_quiet_stream_has_a_heartbeat_and_ends_in_time(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(stream, "STREAM_SECONDS_MAX", 0.2)

    async def read_all(place: Position) -> list[str]:
        return [each async for each in render_events(place, sources.store)]

    with serving(sources) as api:
        text = asyncio.run(read_all(enter(api, sources)))
    assert text[0] == "retry: 1000\n\n"
    assert ": nothing new\n\n" in text
    assert stream.TOO_LONG in text[-1]


def test_a_server_that_stops_tells_its_readers_and_does_not_wait_for_them(
    log: MemoryLog, empty: Writing, tmp_path: Path
) -> None:
    sources = create_sources(log, tmp_path)
    with serving(sources) as api, following(api.ready()) as events:
        next(events)
        sources.store.end_streams()
        last = next(events)
        assert (last.kind, last.data["reason"]) == ("end", stream.STOPPING)
        assert next(events, None) is None


def test_a_stream_of_a_view_that_is_withdrawn_ends(
    log: MemoryLog, inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.05)
    with following(shelves) as events:
        next(events)
        invalidate(log, inventory, "3 rows were dropped by the watermark")
        last = next(events)
    assert (last.kind, last.data["reason"]) == ("end", stream.WITHDRAWN)
