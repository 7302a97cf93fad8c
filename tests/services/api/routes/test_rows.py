"""Any view's rows, asked by what its contract says; over a log in memory."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import product

import pytest

from contracts import (
    ALERTS,
    BEST_SELLERS,
    CONTRACTS,
    RECEIPTS,
    STOCK_LEVELS,
    STORE_SALES,
    VISITS,
    Contract,
)
from services.api.routes.views import TABLES
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.world import announce
from tests.services.writing import INPUT_PARTITIONS, Writing, promote

VIEWS = (STORE_SALES, BEST_SELLERS, VISITS, ALERTS)
TEN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
SALES = f"/v1/views/{STORE_SALES.name}/rows"
LARGEST = 2**63 - 1
TWICE = "?store_id=S001&store_id=S002"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """Sales of two stores in three minutes from ten on and of a third; visits, and two alerts."""
    log = MemoryLog()
    for topic in ("public.inventory.adjustment.v1", RECEIPTS.name):
        log.make(topic, INPUT_PARTITIONS)
    analytics = Writing(log, pipeline="analytics", views=VIEWS)
    for store, number in product(("S001", "S002"), range(3)):
        start = TEN + timedelta(minutes=number)
        window = {"window_start": start, "window_end": start + timedelta(minutes=1)}
        analytics.put(STORE_SALES, store_id=store, **window, units=10 + number, units_on_time=1)
    analytics.put(STORE_SALES, store_id="S003", revenue_cents=LARGEST)
    for customer, hours in (("C1", -1), ("C1", 1), ("C2", 0)):
        names = ("slot_start", "visit_start", "visit_end")
        times = dict.fromkeys(names, TEN + timedelta(hours=hours))
        analytics.put(VISITS, customer_id=customer, **times)
    later = TEN + timedelta(hours=1, minutes=5)
    analytics.put(VISITS, customer_id="C1", slot_start=later, status="withdrawn")
    analytics.put(ALERTS, subject="A")
    analytics.put(ALERTS, subject="B", status="withdrawn")
    analytics.mark()
    promote(log, analytics)
    announce(log, TEN + timedelta(hours=2, minutes=2))  # receipts may come two hours late
    with serving(create_sources(log, tmp_path_factory.mktemp("shop"))) as api:
        api.eventually(SALES, lambda answer: answer["freshness_ms"] is not None)
        api.eventually("/v1/clock", bool)
        yield api


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"store_id": "S001"}, [("S001", "10:00"), ("S001", "10:01"), ("S001", "10:02")]),
        ({"window_start": "2026-03-02T10:01:00Z"}, [("S001", "10:01"), ("S002", "10:01")]),
        ({"window_start": "1772445660000"}, [("S001", "10:01"), ("S002", "10:01")]),
        ({"from": "2026-03-02T11:02:00+01:00", "store_id": "S002"}, [("S002", "10:02")]),
        ({"until": "2026-03-02T10:01:00Z"}, [("S001", "10:00"), ("S002", "10:00")]),
        ({"order": "newest", "limit": 2}, [("S003", "10:41"), ("S002", "10:02")]),
        ({"store_id": "' or 1=1 --"}, []),
    ],
)  # fmt: skip
def test_rows_are_filtered_by_the_fields_of_the_key_and_by_its_time(
    shop: Answers, query: dict[str, str | int], expected: list[tuple[str, str]]
) -> None:
    items = shop.json(SALES, **query)["items"]
    assert [(row["store_id"], row["window_start"][11:16]) for row in items] == expected


def test_a_view_without_a_time_in_its_key_has_no_newest_rows(shelves: Answers) -> None:
    rows = f"/v1/views/{STOCK_LEVELS.name}/rows"
    [row] = shelves.json(rows, sku="A")["items"]
    assert row["units_on_hand"] == 4
    assert "final" not in row
    for query in ({"order": "newest"}, {"from": "2026-03-02T10:00:00Z"}):
        assert shelves.get(rows, **query).status_code == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize("moment", ["2026-03-02T10:01:00Z", "1772445660000"])
def test_a_row_is_found_by_its_key_however_a_time_is_spelled(shop: Answers, moment: str) -> None:
    row = shop.json(f"{SALES}/S001/{moment}")
    assert (row["units"], row["window_end"]) == (11, "2026-03-02T10:02:00.000Z")
    assert row["as_of"]["batch"] == 0


@pytest.mark.parametrize(
    ("asked", "status", "detail"),
    [
        ("?sku=A", 422, "sku: expected one of store_id, window_start, from, until for public."),
        ("?units=3", 422, "units: expected one of store_id"),
        ("?from=yesterday", 422, "from: expected a time with its zone"),
        ("?from=2026-03-02T10:00:00", 422, "from: expected a time with its zone"),
        (f"?window_start={2**63}", 422, "window_start: expected a time"),
        ("?limit=501", 422, "limit: input should be less than or equal to 500"),
        ("?order=units", 422, "order: input should be 'key' or 'newest'"),
        (TWICE, 422, "store_id: expected a text of at most 256 characters, once"),
        ("/S009/1772445660000", 404, "found none for S009/1772445660000"),
        ("/S001", 422, "key: expected store_id/window_start, found 'S001'"),
        ("/S001/soon", 422, "window_start: expected a time"),
        ("/S001/1772445660000/3", 422, "key: expected store_id/window_start"),
    ],
)
def test_a_filter_or_key_that_the_view_does_not_have_is_refused_with_those_it_has(
    shop: Answers, asked: str, status: int, detail: str
) -> None:
    answer = shop.request("GET", f"{SALES}{asked}")
    assert answer.status_code == status
    assert detail in answer.json()["detail"]


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_filters_value_and_a_key_are_so_long_and_no_longer(shop: Answers, beyond: int) -> None:
    answer = shop.get(SALES, store_id="x" * (256 + beyond))
    assert answer.status_code == (HTTPStatus.UNPROCESSABLE_ENTITY if beyond else HTTPStatus.OK)
    answer = shop.get(f"{SALES}/{'x' * (1_024 + beyond)}")
    assert answer.is_error
    assert ("at most 1024" in answer.json()["detail"]) == bool(beyond)


def test_numbers_are_whole_and_a_window_is_final_once_no_event_may_come(shop: Answers) -> None:
    [row] = shop.json(SALES, store_id="S003")["items"]
    assert row["revenue_cents"] == LARGEST
    finals = [row["final"] for row in shop.json(SALES, store_id="S001")["items"]]
    assert finals == [True, True, False]  # at 12:02 receipts of 10:02 may still come


def test_every_view_is_listed_with_what_can_be_asked_of_it(shop: Answers) -> None:
    views = {each["view"]: each for each in shop.json("/v1/views")["views"]}
    assert set(views) == set(TABLES)
    sales = views[STORE_SALES.name]
    assert sales["pipeline"] == "analytics"
    assert (sales["generation"], sales["served"], sales["batch"], sales["rows"]) == (1, 1, 0, 7)
    assert sales["filters"] == ["store_id", "window_start", "from", "until"]
    assert sales["oldest_kept"] == "2026-01-31T10:41:00.000Z"
    assert views[STOCK_LEVELS.name]["pipeline"] is None


def test_alerts_have_a_route_of_their_own(shop: Answers) -> None:
    assert [row["subject"] for row in shop.json("/v1/alerts", status="open")["items"]] == ["A"]
    key = "card-velocity/B/2026-03-02T10:00:00Z"
    assert shop.json(f"/v1/alerts/{key}")["status"] == "withdrawn"
    asked = {"customer_id": "C1", "status": "counted", "order": "newest"}
    visits = shop.json(f"/v1/views/{VISITS.name}/rows", **asked)["items"]
    assert [visit["visit_start"][11:13] for visit in visits] == ["11", "09"]


@pytest.mark.parametrize("view", [CONTRACTS[name] for name in TABLES], ids=str)
def test_any_view_is_served_without_own_code(view: Contract, log: MemoryLog, api: Answers) -> None:
    writing = Writing(log, pipeline="analytics", views=(view,))
    writing.put(view)
    writing.mark()
    promote(log, writing)
    rows = f"/v1/views/{view.name}/rows"
    [row] = api.eventually(rows, lambda answer: bool(answer["items"]))["items"]
    key = "/".join(str(row[name]) for name in view.key)
    assert api.json(f"{rows}/{key}").items() >= row.items()
    assert api.json(rows, **{name: row[name] for name in view.key})["items"] == [row]
