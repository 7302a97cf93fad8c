"""What was sold in the last hour of the world, minute by minute."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cli.watch.client import Client
from cli.watch.sales import MINUTE_MS, PAGES_MAX, SHOWN_MINUTES, load_minutes, summarize
from cli.watch.words import parse_ms
from tests.services.world import NOON

AT_NOON = parse_ms(NOON.isoformat())


def row(after_noon: int, receipts: int = 1, store: str = "S001") -> dict[str, Any]:
    """What a store sold in the minute that begins so many after noon."""
    began = NOON + timedelta(minutes=after_noon)
    return {
        "store_id": store,
        "window_start": began.isoformat(),
        "receipts": receipts,
        "units": 3 * receipts,
        "revenue_cents": 250 * receipts,
    }


# minutes  -3  -2  -1   0
# S001      2   4   0   9     the minute at noon is not over
# S002          6
def test_minutes_that_are_over_count() -> None:
    sales = summarize([row(0, 9), row(-2, 6, "S002"), row(-2, 4), row(-3, 2)], None)
    assert sales is not None
    assert len(sales.minutes) == 3
    assert sales.receipts_per_minute == 4
    assert sales.revenue_cents == 12 * 250
    assert {name: one.receipts for name, one in sales.stores.items()} == {"S001": 6, "S002": 6}


def test_a_minute_in_which_nobody_bought_counts_once_the_pipeline_has_passed_it() -> None:
    sales = summarize([row(-5, 8)], AT_NOON - 1)
    assert sales is not None
    assert len(sales.minutes) == 4
    assert sales.receipts_per_minute == 2


def test_of_a_longer_time_an_hour_counts() -> None:
    sales = summarize([row(at) for at in range(-100, 1)], None)
    assert sales is not None
    assert len(sales.minutes) == SHOWN_MINUTES
    assert sales.minutes[-1] == AT_NOON - MINUTE_MS


def test_without_rows_there_are_no_sales() -> None:
    assert summarize([], AT_NOON) is None


class Pages(Client):
    """An API with a minute per page, that never ends."""

    def __init__(self, stride: int) -> None:
        super().__init__("http://nobody")
        self.asked = 0
        self._stride = stride

    def ask(self, path: str) -> Mapping[str, Any]:
        query = parse_qs(urlsplit(path).query)
        at = int(query.get("cursor", ["0"])[0])
        self.asked += 1
        return {"items": [row(at)], "next": str(at - self._stride)}


def test_pages_are_read_until_an_hour_is_there() -> None:
    pages = Pages(stride=61)
    assert len(load_minutes(pages)) == 2
    assert pages.asked == 2


def test_no_more_pages_are_read_than_a_few() -> None:
    pages = Pages(stride=1)
    assert len(load_minutes(pages)) == PAGES_MAX
    assert pages.asked == PAGES_MAX
