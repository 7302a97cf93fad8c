"""The stock routes, over a log in memory: what they say does not depend on the broker."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest

from contracts import ADJUSTMENTS, PRODUCTS, RECEIPTS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.writing import INPUT_PARTITIONS, Writing, promote


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """Two stores: A 4 and 9, B 0 and −2 units on hand, C 6 in the second only."""
    log = MemoryLog()
    inventory = Writing(log)
    for topic in (ADJUSTMENTS.name, RECEIPTS.name):
        log.make(topic, INPUT_PARTITIONS)
        for _ in range(6):
            log.publish((topic, 0), b"", b"")
    promote(log, inventory)
    for store, sku, units in ((1, "A", 4), (1, "B", 0), (2, "A", 9), (2, "B", -2), (2, "C", 6)):
        inventory.row(store, sku, units)
    inventory.mark(sold=5, adjusted=2)
    log.put(PRODUCTS, {**PRODUCTS.examples[0], "sku": "C", "name": "Rye buns"})
    with serving(create_sources(log, tmp_path_factory.mktemp("api"))) as api:
        api.ready().await_items("/v1/stock?search=rye", 1)
        yield api


def test_a_shelf_says_its_units_and_what_has_been_counted(shelves: Answers) -> None:
    shelf = shelves.json("/v1/stock/S001/A")
    assert (shelf["units_on_hand"], shelf["last_event_time"]) == (4, "2026-03-02T08:00:00.000Z")
    assert (shelf["as_of"]["generation"], shelf["as_of"]["batch"]) == (1, 0)
    assert shelf["as_of"]["inputs"][RECEIPTS.name] == [5, 0, 0, 0]


def test_a_shelf_without_a_movement_is_not_found(shelves: Answers) -> None:
    answer = shelves.get("/v1/stock/S001/Z")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "urn:retail:problem:unknown-shelf",
        "title": "Unknown shelf",
        "status": 404,
        "detail": "Expected a shelf that has had a movement, found none for S001/Z. "
        "List the shelves there are with GET /v1/stock.",
        "instance": "/v1/stock/S001/Z",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [("S001", "A"), ("S001", "B"), ("S002", "A"), ("S002", "B"), ("S002", "C")]),
        ({"store_id": "S001"}, [("S001", "A"), ("S001", "B")]),
        ({"sku": "A"}, [("S001", "A"), ("S002", "A")]),
        ({"store_id": "S002", "sku": "C"}, [("S002", "C")]),
        ({"state": "low"}, [("S001", "A")]),
        ({"state": "out"}, [("S001", "B")]),
        ({"state": "negative"}, [("S002", "B")]),
        ({"sort": "units_on_hand", "limit": 2}, [("S002", "B"), ("S001", "B")]),
        ({"sort": "-units_on_hand", "limit": 2}, [("S002", "A"), ("S002", "C")]),
        ({"store_id": "S999"}, []),
        ({"sku": "' or 1=1 --"}, []),
        ({"search": "a"}, [("S001", "A"), ("S002", "A")]),
        ({"search": "%"}, []),
        ({"search": "BUNS"}, [("S002", "C")]),
    ],
)
def test_shelves_are_filtered_searched_and_sorted(
    shelves: Answers, query: dict[str, str | int], expected: list[tuple[str, str]]
) -> None:
    items = shelves.json("/v1/stock", **query)["items"]
    assert [(item["store_id"], item["sku"]) for item in items] == expected
    assert shelves.get("/v1/stock", search="").status_code == HTTPStatus.UNPROCESSABLE_ENTITY
