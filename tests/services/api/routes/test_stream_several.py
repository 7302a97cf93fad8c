"""Several views of several pipelines in one stream."""

import pytest

from contracts import BEST_SELLERS, STOCK_LEVELS, STORE_SALES
from services.api.http import positions
from services.api.routes import stream
from tests.services.following import STREAM, following
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.writing import Writing, invalidate, promote


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
