"""What a product costs at a moment, and what is planned for it, from the log."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest

from contracts import NOTICE, PRICE_CHANGES, PROMOTIONS
from contracts.times import MILLISECOND, to_epoch_ms
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem
from tests.services.world import NOON, announce, beat

MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)
DAY = timedelta(days=1)


def change(log: MemoryLog, sku: str, cents: int, effective_at: datetime, **other: Any) -> None:
    times = {"event_time": effective_at - timedelta(hours=14), "effective_at": effective_at}
    value = {"event_id": f"{sku}-{cents}", "sku": sku, "price_cents": cents, **times, **other}
    log.put(PRICE_CHANGES, value, published_ms=to_epoch_ms(value["event_time"]))


@pytest.fixture
def priced(log: MemoryLog, api: Answers) -> Answers:
    """At noon A costs 100, and 90 from midnight on; B costs 250; C will cost 5."""
    announce(log)
    change(log, "A", 100, NOON - DAY)
    change(log, "B", 250, NOON)
    change(log, "C", 5, MIDNIGHT)
    change(log, "A", 90, MIDNIGHT)
    return read(api, 4)


def read(api: Answers, records: int) -> Answers:
    return api.await_read("/v1/prices/B/history", PRICE_CHANGES.name, records)


def test_a_price_holds_until_the_next_takes_over(priced: Answers) -> None:
    now = priced.json("/v1/prices/A")
    assert (now["price_cents"], now["at"]) == (100, "2026-03-02T12:00:00.000Z")
    assert now["until"] == "2026-03-03T00:00:00.000Z"
    assert now["as_of"] == {"inputs": {PRICE_CHANGES.name: [4]}}
    assert priced.json("/v1/prices/A", at="2026-03-02T23:59:59.999Z")["price_cents"] == 100
    then = priced.json("/v1/prices/A", at="2026-03-03T00:00:00Z")
    assert (then["price_cents"], then["until"]) == (90, None)


@pytest.mark.parametrize("path", ["/v1/prices/C", "/v1/prices/Z", "/v1/prices/Z/history"])
def test_no_price_is_said_to_be_none(priced: Answers, path: str) -> None:
    check_problem(priced.get(path), HTTPStatus.NOT_FOUND, "No price")


def test_of_two_changes_at_one_moment_the_last_holds_and_the_same_again_changes_nothing(
    log: MemoryLog, priced: Answers
) -> None:
    change(log, "A", 80, MIDNIGHT)
    change(log, "B", 999, NOON, event_id="B-250")  # the same event again
    read(priced, 6)
    assert priced.json("/v1/prices/A", at="2026-03-03T00:00:00Z")["price_cents"] == 80
    assert priced.json("/v1/prices/B")["price_cents"] == 250


def test_a_price_of_short_notice_holds_after_its_notice(log: MemoryLog, priced: Answers) -> None:
    change(log, "B", 240, NOON, event_time=NOON)
    read(priced, 5)
    begins = NOON + NOTICE
    until = priced.json("/v1/prices/B", at=(begins - MILLISECOND).isoformat())
    assert (until["price_cents"], until["until"]) == (250, "2026-03-02T12:10:00.000Z")
    now = priced.json("/v1/prices/B", at=begins.isoformat())
    assert (now["price_cents"], now["holds_from"]) == (240, "2026-03-02T12:10:00.000Z")
    assert now["effective_at"] == "2026-03-02T12:00:00.000Z"
    history = priced.json("/v1/prices/B/history")["items"]
    assert [change["price_cents"] for change in history] == [240, 250]


def test_the_clock_tells_what_time_it_is_in_the_world(log: MemoryLog, api: Answers) -> None:
    assert api.get("/v1/clock").status_code == HTTPStatus.SERVICE_UNAVAILABLE
    announce(log)
    clock = api.eventually("/v1/clock", bool)
    assert clock["world_time"] == "2026-03-02T12:00:00.000Z"
    assert clock["world_ms"] == NOON.timestamp() * 1000
    assert (clock["speed"], clock["state"]) == (10, "stopped")


def test_the_clock_of_a_dead_simulator_stands_soon_after_its_last_heartbeat(
    log: MemoryLog, api: Answers
) -> None:
    for minute in range(3):
        beat(log, NOON + timedelta(minutes=minute))
    announce(log, state="running")  # by the wall, months ago
    clock = api.eventually("/v1/clock", bool)
    assert (clock["world_time"], clock["state"]) == ("2026-03-02T12:05:40.000Z", "running")
    beat(log, NOON + timedelta(minutes=3))
    api.eventually("/v1/clock", lambda clock: clock["world_time"] == "2026-03-02T12:06:40.000Z")


def plan(log: MemoryLog, event_id: str, starts_at: datetime, **other: Any) -> None:
    """A plan that was published twelve hours before it holds."""
    held = {"starts_at": starts_at, "ends_at": starts_at + DAY}
    announced = {"event_time": starts_at - DAY, "effective_at": starts_at - DAY / 2}
    changes = {"event_id": event_id, "sku": "A", **held, **announced, **other}
    value = {**PROMOTIONS.examples[0], **changes}
    log.put(PROMOTIONS, value, published_ms=to_epoch_ms(value["event_time"]))


def test_the_last_to_start_is_first_without_the_rejected_and_a_plan_has_its_notice(
    log: MemoryLog, api: Answers
) -> None:
    plan(log, "first", NOON)
    plan(log, "next", NOON + 7 * DAY, price_cents=99, effective_at=NOON + 6 * DAY)
    plan(log, "next", NOON + 7 * DAY, price_cents=1)  # said twice
    plan(log, "never", NOON, ends_at=NOON - DAY)
    items = api.await_read("/v1/promotions/A", PROMOTIONS.name, 4).json("/v1/promotions/A")["items"]
    told = [(change["event_id"], change["price_cents"]) for change in items]
    assert told == [("next", 99), ("first", 179)]
    assert items[1]["starts_at"] == "2026-03-02T12:00:00.000Z"
    assert items[1]["ends_at"] == "2026-03-03T12:00:00.000Z"
    assert items[1]["published_at"] == "2026-03-01T12:00:00.000Z"
    assert items[1]["holds_from"] == items[1]["effective_at"] == "2026-03-02T00:00:00.000Z"
    assert api.json("/v1/promotions/Z")["items"] == []

    plan(log, "at once", NOON, sku="B", event_time=NOON, effective_at=NOON)
    answer = api.eventually("/v1/promotions/B", lambda answer: bool(answer["items"]))
    assert answer["items"][0]["holds_from"] == "2026-03-02T12:10:00.000Z"
