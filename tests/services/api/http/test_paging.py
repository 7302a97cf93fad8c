"""Cursors, and pages while rows change: SQLite and the routes' own SQL, no server."""

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.api.http.paging import Cursor, PageRequest
from services.api.problem import Problem
from services.api.routes.stock import STOCK, Sort, StockQuery, create_selection
from services.api.store.database import Database
from services.api.store.marker import Marker
from services.api.store.snapshots import Snapshots
from services.api.store.tables import Document
from tests.services.writing import create_shelf

Shelf = tuple[int, str]

KEYS = st.tuples(st.integers(0, 3), st.sampled_from("ABCDE"))
STOCKED = st.dictionaries(KEYS, st.integers(-3, 3), min_size=1)


class Shop:
    """A database whose shelves a test changes between two pages."""

    def __init__(self, folder: Path) -> None:
        path = folder / "inventory.g1.sqlite"
        self.database = Database.create(path, {}, [STOCK])
        self.snapshots = Snapshots(path)
        self._batch = 0

    def put(self, stocked: dict[Shelf, int]) -> None:
        self._batch += 1
        rows = [
            STOCK.to_stored(create_shelf(store, sku, units, self._batch))
            for (store, sku), units in stocked.items()
        ]
        self.database.apply(STOCK.view, rows)
        self.database.commit(Marker("inventory", 1, self._batch, {}, {}, 0, 0))

    def pages(self, sort: Sort, limit: int) -> Iterator[list[Document]]:
        cursor = None
        while True:
            query = StockQuery(sort=sort, limit=limit, cursor=cursor)
            page, _ = query.read_page(self.snapshots, create_selection(query), "")
            cursor = page.next
            yield [STOCK.to_json(row) for row in page.items]
            if cursor is None:
                return

    def close(self) -> None:
        self.snapshots.close()
        self.database.close()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(Sort), st.integers(1, 4), STOCKED, st.lists(STOCKED, min_size=1, max_size=6))
def test_paging_neither_repeats_nor_skips_a_shelf_that_stands_still(
    sort: Sort, limit: int, stocked: dict[Shelf, int], changes: list[dict[Shelf, int]]
) -> None:
    with TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        shop.put(stocked)
        seen: list[tuple[str, str]] = []
        pending = iter(changes)
        for items in shop.pages(sort, limit):
            assert len(items) <= limit
            seen += [(str(item["store_id"]), str(item["sku"])) for item in items]
            if change := next(pending, None):
                shop.put(change)
        shop.close()
    moved = {key for change in changes for key in change}
    still = [(f"S{store:03}", sku) for store, sku in stocked if (store, sku) not in moved]
    assert [key for key in still if seen.count(key) != 1] == []


WHOLE = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(WHOLE, TEXT, TEXT)
def test_a_cursor_leads_back_to_its_place(units: int, store: str, sku: str) -> None:
    text = str(Cursor(7, "sort=-units_on_hand", (units, store, sku)))
    following = PageRequest(1, text, "sort=-units_on_hand", (int, str, str), generation=7)
    assert following.find_place() == (units, store, sku)


@given(st.text(max_size=60))
def test_what_is_not_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="begin with the first page") as refusal:
        PageRequest(1, text, "sort=key", (str, str)).find_place()
    assert refusal.value.status == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize("after", [("S001",), ("S001", 5), ("S001", "A", "B"), (2**70, "A")])
def test_a_place_of_another_shape_is_refused(after: tuple[str | int, ...]) -> None:
    kinds = (str, str) if isinstance(after[0], str) else (int, str)
    with pytest.raises(Problem, match="expected the `next` of an earlier page"):
        PageRequest(1, str(Cursor(0, "sort=key", after)), "sort=key", kinds).find_place()
