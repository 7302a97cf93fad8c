"""The event stream: what each commit changed, once, in order, from marker to marker."""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from fastapi.sse import ServerSentEvent

from contracts import STOCK_LEVELS
from services.api.http.parameters import Sources
from services.api.routes import stream
from services.api.routes.stream import Position, stream_view
from services.api.store import changes
from tests.services.clients import STREAM, Told, following
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem, create_sources, serving
from tests.services.writing import Writing, invalidate, promote


def test_a_commit_is_one_event_with_the_rows_changed(inventory: Writing, shelves: Answers) -> None:
    with following(shelves) as events:
        begin = next(events)
        assert (begin.kind, begin.id) == ("reset", "1-0")
        assert begin.data["fetch"] == f"/v1/views/{STOCK_LEVELS.name}/export"
        inventory.row(1, "B", 7)
        inventory.mark()
        change = next(events)
        assert (change.kind, change.id) == ("change", "1-1")
        assert (change.data["generation"], change.data["batch"]) == (1, 1)
        assert change.data["rows"] == shelves.json("/v1/stock", sku="B")["items"]
        assert change.units() == {"B": 7}
        inventory.mark()
        assert next(events).units() == {}
        for units, version in ((3, 2), (1, 4), (2, 3)):  # it is told as it is at the marker
            inventory.row(1, "A", units, version)
        inventory.mark()
        assert next(events).units() == {"A": 1}


def test_a_reader_that_comes_back_gets_what_it_missed(inventory: Writing, shelves: Answers) -> None:
    for sku in "BCD":
        inventory.row(1, sku, 7)
        shelves.ready(inventory.mark())
    with following(shelves, "1-1") as events:
        missed = [next(events), next(events)]
        inventory.row(1, "E", 7)
        inventory.mark()
        assert [each.id for each in (*missed, next(events))] == ["1-2", "1-3", "1-4"]


def test_changes_outlive_the_process(log: MemoryLog, inventory: Writing, tmp_path: Path) -> None:
    promote(log, inventory)
    inventory.row(1, "A", 4)
    with serving(create_sources(log, tmp_path)) as api:
        api.ready(inventory.mark())
    inventory.row(1, "B", 7)
    with serving(create_sources(log, tmp_path)) as api:
        api.ready(inventory.mark())
        with following(api, "1-0") as events:
            assert next(events).units() == {"B": 7}


def check_reset(events: Iterator[Told], event_id: str, reason: str) -> None:
    event = next(events)
    assert (event.kind, event.id, event.data["reason"]) == ("reset", event_id, reason)


def test_a_reader_whose_place_is_not_there_is_told_to_fetch_the_view(shelves: Answers) -> None:
    for place, reason in (("1-99", stream.FORGOTTEN), ("7-0", stream.GENERATION)):
        with following(shelves, place) as events:
            check_reset(events, "1-0", reason)


def test_a_commit_that_changes_too_much_is_a_reset(
    inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "ROWS_PER_CHANGE_MAX", 2)
    with following(shelves) as events:
        next(events)
        inventory.rows(1, "BCD", 7)
        inventory.mark()
        check_reset(events, "1-1", stream.TOO_MANY)
        inventory.row(1, "E", 7)
        inventory.mark()
        assert next(events).units() == {"E": 7}


def test_a_promotion_is_a_reset_to_the_new_generation(
    log: MemoryLog, inventory: Writing, shelves: Answers
) -> None:
    with following(shelves) as events:
        next(events)
        second = Writing(log, generation=2)
        second.mark()
        promote(log, second, inventory)
        check_reset(events, "2-0", stream.GENERATION)
        second.row(1, "A", 40)
        second.mark()
        assert next(events).units() == {"A": 40}


def test_a_place_that_is_none_is_refused(quiet: Answers) -> None:
    answer = quiet.request("GET", STREAM, headers={"Last-Event-ID": "yesterday"})
    words = "last-event-id: string should match"
    check_problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid request", words)


@pytest.fixture
def sources(log: MemoryLog, tmp_path: Path) -> Sources:
    return create_sources(log, tmp_path)


def enter(api: Answers, sources: Sources) -> Position:
    """A reader's place, after the event that says where to begin."""
    api.ready()
    place = Position(sources.store, STOCK_LEVELS.name, None)
    begin = place.find_next()
    assert begin is not None
    assert begin.event == "reset"
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
    assert last.event == "end"
    assert stream.TOO_SLOW in str(last.raw_data)


def test_a_quiet_stream_ends_in_time(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "STREAM_SECONDS_MAX", 0.2)

    async def read_all(place: Position) -> list[ServerSentEvent]:
        return [each async for each in stream_view(sources.store, place)]

    with serving(sources) as api:
        first, last = asyncio.run(read_all(enter(api, sources)))
    assert first.retry == 1_000
    assert stream.TOO_LONG in str(last.raw_data)


def test_a_server_that_stops_tells_its_readers_and_does_not_wait_for_them(
    empty: Writing, sources: Sources
) -> None:
    with serving(sources) as api, following(api.ready()) as events:
        next(events)
        sources.store.end_streams()
        last = next(events)
        assert (last.kind, last.data["reason"]) == ("end", stream.STOPPING)
        assert next(events, None) is None


def test_a_stream_of_a_view_that_is_withdrawn_ends(
    log: MemoryLog, inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.05)
    with following(shelves) as events:
        next(events)
        invalidate(log, inventory, "3 rows were dropped by the watermark")
        last = next(events)
    assert (last.kind, last.data["reason"]) == ("end", stream.WITHDRAWN)
