"""What is planned for a product, from the plans in the log."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from contracts import PROMOTIONS
from contracts.times import EPOCH, MILLISECOND
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.world import NOON

DAY = timedelta(days=1)


def plan(log: MemoryLog, event_id: str, starts_at: datetime, **other: Any) -> None:
    """A plan that was published twelve hours before it holds."""
    value: dict[str, Any] = {
        **PROMOTIONS.examples[0],
        "event_id": event_id,
        "sku": "A",
        "event_time": starts_at - DAY,
        "effective_at": starts_at - DAY / 2,
        "starts_at": starts_at,
        "ends_at": starts_at + DAY,
        **other,
    }
    published_ms = (value["event_time"] - EPOCH) // MILLISECOND
    log.put(PROMOTIONS, value, published_ms=published_ms)


@pytest.fixture
def planned(log: MemoryLog, api: Answers) -> Answers:
    """Two promotions of A, one of them said twice, and one that ends before it starts."""
    plan(log, "first", NOON)
    plan(log, "next", NOON + 7 * DAY, price_cents=99, effective_at=NOON + 6 * DAY)
    plan(log, "next", NOON + 7 * DAY, price_cents=1)
    plan(log, "never", NOON, ends_at=NOON - DAY)
    api.eventually(
        "/v1/promotions/A", lambda answer: answer["as_of"]["inputs"].get(PROMOTIONS.name) == [4]
    )
    return api


def test_the_last_to_start_is_first_and_what_is_rejected_is_not_planned(planned: Answers) -> None:
    items = planned.json("/v1/promotions/A")["items"]
    assert [(one["event_id"], one["price_cents"]) for one in items] == [
        ("next", 99),
        ("first", 179),
    ]
    assert items[1]["starts_at"] == "2026-03-02T12:00:00.000Z"
    assert items[1]["ends_at"] == "2026-03-03T12:00:00.000Z"
    assert items[1]["published_at"] == "2026-03-01T12:00:00.000Z"
    assert items[1]["holds_from"] == items[1]["effective_at"] == "2026-03-02T00:00:00.000Z"


def test_a_plan_without_notice_holds_ten_minutes_later(planned: Answers, log: MemoryLog) -> None:
    plan(log, "at once", NOON, sku="B", event_time=NOON, effective_at=NOON)
    answer = planned.eventually("/v1/promotions/B", lambda answer: bool(answer["items"]))
    assert answer["items"][0]["holds_from"] == "2026-03-02T12:10:00.000Z"


def test_a_product_without_promotions_has_none(planned: Answers) -> None:
    assert planned.json("/v1/promotions/Z")["items"] == []
