"""The event stream: what each commit changed, once, in order, from marker to marker."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path

import pytest

from contracts import BEST_SELLERS, STOCK_LEVELS, STORE_SALES
from infra.wait import wait_until
from services.api.http import positions
from services.api.http.positions import Event, Positions
from services.api.http.sources import Sources
from services.api.routes import stream
from services.api.routes.stream import render_events
from services.api.store import changes
from tests.services.following import STREAM, Told, following
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.writing import Writing, invalidate, promote


def test_every_commit_is_one_event_with_the_rows_that_it_changed(
    inventory: Writing, shelves: Answers
) -> None:
    with following(shelves) as events:
        begin = next(events)
        assert (begin.kind, begin.id) == ("reset", "1-0")
        assert begin.data["fetch"] == f"/v1/views/{STOCK_LEVELS.name}/export"
        inventory.row(1, "B", 7)
        inventory.mark()
        change = next(events)
        assert (change.kind, change.id) == ("change", "1-1")
        assert (change.data["generation"], change.data["batch"]) == (1, 1)
        assert change.units() == {"B": 7}
        inventory.mark()
        assert next(events).units() == {}


def test_a_row_is_told_as_it_stands_at_the_marker(inventory: Writing, shelves: Answers) -> None:
    with following(shelves) as events:
        next(events)
        for units, version in ((3, 2), (1, 4), (2, 3)):
            inventory.row(1, "A", units, version)
        inventory.mark()
        assert next(events).units() == {"A": 1}


def test_a_row_looks_as_in_every_other_answer(inventory: Writing, shelves: Answers) -> None:
    with following(shelves) as events:
        next(events)
        inventory.row(1, "B", 7)
        inventory.mark()
        [row] = next(events).data["rows"]
    [listed] = shelves.json("/v1/stock", sku="B")["items"]
    assert row == listed


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


def check_reset(events: Iterator[Told], at: str, reason: str) -> None:
    event = next(events)
    assert (event.kind, event.id, event.data["reason"]) == ("reset", at, reason)


@pytest.mark.parametrize(
    ("last_event_id", "reason"), [("1-99", positions.FORGOTTEN), ("7-0", positions.GENERATION)]
)
def test_a_reader_whose_place_is_not_there_is_told_to_fetch_the_view(
    shelves: Answers, last_event_id: str, reason: str
) -> None:
    with following(shelves, last_event_id) as events:
        check_reset(events, "1-0", reason)


@pytest.mark.crosses("services/api/store/changes/ROWS_PER_CHANGE_MAX")
def test_a_commit_that_changes_too_much_is_a_reset(
    inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "ROWS_PER_CHANGE_MAX", 2)
    with following(shelves) as events:
        next(events)
        for sku in "BCD":
            inventory.row(1, sku, 7)
        inventory.mark()
        check_reset(events, "1-1", positions.TOO_MANY)
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
        check_reset(events, "2-0", positions.GENERATION)
        second.row(1, "A", 40)
        second.mark()
        assert next(events).units() == {"A": 40}


@pytest.fixture
def sources(log: MemoryLog, tmp_path: Path) -> Sources:
    return create_sources(log, tmp_path)


def enter(sources: Sources) -> Positions:
    """A reader's place, after the event that says where to begin."""
    place = Positions(sources.store, [STOCK_LEVELS.name], None)
    begin: list[Event | None] = []

    def has_begun() -> bool:
        begin[:] = [place.next()]
        return begin[0] is not None

    wait_until(has_begun, "the view is loaded")
    return place


@pytest.mark.crosses("services/api/store/changes/ROWS_KEPT_MAX")
def test_a_reader_that_is_too_slow_is_told_so_and_cut_off(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "ROWS_KEPT_MAX", 4)
    with serving(sources) as api:
        slow = enter(sources)
        for units in range(4):
            empty.row(1, "A", units, version=units + 1)
            api.ready(empty.mark())
        last = slow.next()
    assert last is not None
    assert last.kind == "end"
    assert positions.TOO_SLOW in last.data


def test_a_quiet_stream_has_a_heartbeat_and_ends_in_time(
    empty: Writing, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(stream, "STREAM_SECONDS_MAX", 0.2)

    async def read_all() -> list[str]:
        return [each async for each in render_events(enter(sources), sources.store)]

    with serving(sources):
        text = asyncio.run(read_all())
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


@pytest.mark.crosses("services/api/routes/stream/STREAMS_MAX")
def test_so_many_readers_and_no_more_until_one_leaves(
    log: MemoryLog, empty: Writing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "STREAMS_MAX", 2)
    with serving(create_sources(log, tmp_path)) as api:
        api.ready()
        with ExitStack() as readers:
            streams = [readers.enter_context(following(api)) for _ in range(2)]
            assert [next(events).kind for events in streams] == ["reset", "reset"]
            answer = api.request("GET", STREAM)
            assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
            assert "at most 2 streams" in answer.json()["detail"]

        def is_let_in() -> bool:
            with api.stream(STREAM) as answer:
                return bool(answer.is_success)

        wait_until(is_let_in, "a place is free again")


@pytest.mark.parametrize(
    ("path", "last_event_id", "status", "detail"),
    [
        ("/v1/stream", "1-0", 422, "view: field required"),
        ("/v1/stream?view=public.stock.v1", "1-0", 404, "Expected one of public.analytics"),
        (STREAM, "yesterday", 422, "last-event-id: string should match"),
        (f"{STREAM}&since=1", "1-0", 422, "since: expected no such query parameter"),
        (STREAM, "1-0", 503, "Expected a promoted generation"),
    ],
)
def test_a_stream_that_cannot_be_is_refused_with_the_reason(
    api: Answers, path: str, last_event_id: str, status: int, detail: str
) -> None:
    answer = api.request("GET", path, headers={"Last-Event-ID": last_event_id})
    assert answer.status_code == status
    assert detail in answer.json()["detail"]


@pytest.fixture
def shop(log: MemoryLog, inventory: Writing, shelves: Answers) -> Writing:
    """Beside inventory, analytics with two views and batch 0."""
    analytics = Writing(log, pipeline="analytics", views=(STORE_SALES, BEST_SELLERS))
    analytics.put(STORE_SALES)
    analytics.mark()
    promote(log, analytics)
    shelves.ready(0, "analytics")
    return analytics


SEVERAL = f"{STREAM}&view={STORE_SALES.name}"


def test_several_views_of_several_pipelines_are_one_stream(
    inventory: Writing, shop: Writing, shelves: Answers
) -> None:
    with following(shelves, path=SEVERAL) as events:
        begins = [next(events), next(events)]
        assert [each.data["view"] for each in begins] == [STOCK_LEVELS.name, STORE_SALES.name]
        assert [each.id for each in begins] == ["1-0.0-0", "1-0.1-0"]
        shop.put(STORE_SALES, units=50, version=20)
        shop.mark()
        change = next(events)
        assert (change.id, change.data["view"]) == ("1-0.1-1", STORE_SALES.name)
        assert [row["units"] for row in change.data["rows"]] == [50]
        inventory.row(1, "B", 7)
        inventory.mark()
        change = next(events)
        assert (change.id, change.data["view"]) == ("1-1.1-1", STOCK_LEVELS.name)


def test_a_reader_of_several_views_goes_on_in_each_where_it_stood(
    inventory: Writing, shop: Writing, shelves: Answers
) -> None:
    for batch in (1, 2):
        inventory.row(1, "B", batch, version=batch)
        shelves.ready(inventory.mark())
        shop.put(STORE_SALES, units=50 + batch, version=20 + batch)
        shelves.ready(shop.mark(), "analytics")
    with following(shelves, "1-1.1-0", SEVERAL) as events:
        changes = [next(events) for _ in range(3)]
    by_view = [(each.kind, each.data["view"], each.data["batch"]) for each in changes]
    assert sorted(by_view) == [
        ("change", STORE_SALES.name, 1),
        ("change", STORE_SALES.name, 2),
        ("change", STOCK_LEVELS.name, 2),
    ]
    assert changes[-1].id == "1-2.1-2"


def test_a_place_of_other_views_is_none(shop: Writing, shelves: Answers) -> None:
    with following(shelves, "1-0", SEVERAL) as events:
        assert [next(events).kind, next(events).kind] == ["reset", "reset"]


def test_a_stream_of_a_view_that_is_withdrawn_ends(
    log: MemoryLog, shop: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.05)
    with following(shelves, path=f"/v1/stream?view={BEST_SELLERS.name}") as events:
        next(events)
        invalidate(log, shop, "3 rows were dropped by the watermark")
        last = next(events)
    assert (last.kind, last.data["reason"]) == ("end", positions.WITHDRAWN)


@pytest.mark.crosses("services/api/http/positions/VIEWS_MAX")
def test_no_more_views_than_the_limit_are_one_stream(api: Answers) -> None:
    views = "&".join(f"view={number}" for number in range(positions.VIEWS_MAX + 1))
    assert api.get(f"/v1/stream?{views}").status_code == HTTPStatus.UNPROCESSABLE_ENTITY
