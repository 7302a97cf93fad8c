"""The limits of a stream: a slow reader, a quiet view, a server that stops, too many readers."""

import asyncio
from http import HTTPStatus
from pathlib import Path

import pytest

from contracts import STOCK_LEVELS
from services.api.http import positions
from services.api.http.positions import Positions
from services.api.http.sources import Sources
from services.api.routes import stream
from services.api.routes.stream import render_events
from services.api.store import changes
from tests.services.following import following
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.writing import Writing


@pytest.fixture
def sources(log: MemoryLog, tmp_path: Path) -> Sources:
    return create_sources(log, tmp_path)


def enter(api: Answers, sources: Sources) -> Positions:
    """A reader's place, after the event that says where to begin."""
    api.ready()
    place = Positions(sources.store, [STOCK_LEVELS.name], None)
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
    assert positions.TOO_SLOW in last.data


def test_a_quiet_stream_has_a_heartbeat_and_ends_in_time(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(stream, "STREAM_SECONDS_MAX", 0.2)

    async def read_all(place: Positions) -> list[str]:
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


def test_no_more_views_than_the_limit_are_one_stream(api: Answers) -> None:
    views = "&".join(f"view={number}" for number in range(positions.VIEWS_MAX + 1))
    assert api.get(f"/v1/stream?{views}").status_code == HTTPStatus.UNPROCESSABLE_ENTITY
