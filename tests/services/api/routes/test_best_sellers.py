"""Best sellers are ranked when they are asked for, exactly."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest

from contracts import BEST_SELLERS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem, create_sources, serving
from tests.services.world import announce
from tests.services.writing import Writing, all_on_time, promote

ROUTE = "/v1/best-sellers"
TEN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
#            sku, units and cents in S001, units and cents in S002
SOLD = (
    ("A", (3, 300), (1, 100)),
    ("B", (3, 400), (0, 0)),
    ("C", (2, 900), (2, 100)),
    ("D", (3, 300), (9, 900)),
)
EARLY = TEN - timedelta(hours=3)
MOST_UNITS, MOST = 6_000_000_000, 2**63 - 1
IN_FULL = [{"name": "revenue_cents", "digits": str(2 * MOST)}]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """The hour from ten on as SOLD says, and one from half past eleven that is not over at noon; in
    one from seven on, sums of 64 bits are too small."""
    log = MemoryLog()
    analytics = Writing(log, pipeline="analytics", views=(BEST_SELLERS,))
    for sku, *stores in SOLD:
        for store, sold in zip(("S001", "S002"), stores, strict=True):
            put(analytics, TEN, (store, sku), sold)
    put(analytics, TEN + timedelta(minutes=90), ("S001", "E"), (1, 100))
    put(analytics, EARLY, ("S001", "F"), (MOST_UNITS, MOST), sums_in_full=IN_FULL)
    put(analytics, EARLY, ("S002", "F"), (MOST_UNITS, MOST - 1))
    put(analytics, EARLY, ("S001", "G"), (2 * MOST_UNITS, MOST))
    put(analytics, EARLY, ("S001", "H"), (1, 1))
    analytics.mark()
    promote(log, analytics)
    announce(log, TEN + timedelta(hours=2))
    with serving(create_sources(log, tmp_path_factory.mktemp("shop"))) as api:
        api.eventually("/v1/clock", bool)
        api.eventually(ROUTE, bool)
        yield api


def put(
    analytics: Writing, start: datetime, shelf: tuple[str, str], sold: tuple[int, int], **other: Any
) -> None:
    (store, sku), (units, cents) = shelf, sold
    measures = all_on_time(units=units, revenue_cents=cents) | {"sums_in_full": None, **other}
    window = {"window_start": start, "window_end": start + timedelta(hours=1)}
    analytics.put(BEST_SELLERS, store_id=store, sku=sku, **window, **measures)


def test_products_are_ranked_by_units_revenue_and_sku_in_a_store_or_over_all(shop: Answers) -> None:
    answer = shop.json(ROUTE, store="S001", window="2026-03-02T10:00:00Z")
    ranked = [(row["rank"], row["sku"]) for row in answer["items"]]
    assert ranked == [(1, "B"), (2, "A"), (3, "D"), (4, "C")]
    assert answer["window_end"] == "2026-03-02T11:00:00.000Z"

    answer = shop.json(ROUTE, window="2026-03-02T10:00:00Z", top=2)
    sold = [(row["sku"], row["units"], row["revenue_cents"]) for row in answer["items"]]
    assert sold == [("D", 12, 1200), ("C", 4, 1000)]
    assert answer["store_id"] is None


def test_sums_are_exact_beyond_64_bits(shop: Answers) -> None:
    answer = shop.json(ROUTE, window="2026-03-02T07:00:00Z", top=2)
    ranked = [(row["rank"], row["sku"], row["revenue_cents"]) for row in answer["items"]]
    assert ranked == [(1, "F", 3 * MOST - 1), (2, "G", MOST)]
    [sold] = shop.json(ROUTE, window="2026-03-02T07:00:00Z", store="S002")["items"]
    assert sold["revenue_cents_on_time"] == MOST - 1


def test_the_last_window_over_is_meant_and_one_without_sales_is_not_there(shop: Answers) -> None:
    assert shop.json(ROUTE)["window_start"] == "2026-03-02T10:00:00.000Z"
    answer = shop.get(ROUTE, window="2026-03-02T03:00:00Z")
    kept = "kept are those from 2026-02-28T11:30:00.000Z on"
    check_problem(answer, HTTPStatus.NOT_FOUND, "Unknown window", kept)
