"""What is and was marked down, by the price changes of the gate and of others."""

from datetime import timedelta
from typing import Any

import pytest

from contracts import PRICE_CHANGES
from contracts.times import to_epoch_ms
from services.markdowns.decision import AHEAD_MS, derive_event_id
from services.markdowns.prices import BEGINS, ENDS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.world import NOON, announce

AHEAD = timedelta(milliseconds=AHEAD_MS)
DAY_MINUTES = 24 * 60


def change(log: MemoryLog, sku: str, cents: int, minutes: int, kind: str = "") -> None:
    """A price that holds so many minutes after noon: the gate's of a kind, or another's."""
    effective_at = NOON + timedelta(minutes=minutes)
    decided_at = effective_at - AHEAD
    name = derive_event_id(kind, sku, to_epoch_ms(decided_at)) if kind else f"{sku}-{minutes}"
    value = {"event_id": name, "sku": sku, "price_cents": cents, "event_time": decided_at}
    log.put(
        PRICE_CHANGES,
        {**value, "effective_at": effective_at},
        published_ms=to_epoch_ms(decided_at),
    )


@pytest.fixture
def priced(log: MemoryLog, api: Answers) -> Answers:
    """At noon A is marked down, B announced, C ended by the gate, and D by another price."""
    announce(log)
    for sku in "ABCDE":
        change(log, sku, 200, -3 * DAY_MINUTES)
    change(log, "A", 150, -10, BEGINS)
    change(log, "B", 140, 5, BEGINS)
    change(log, "C", 130, -2 * DAY_MINUTES, BEGINS)
    change(log, "C", 200, -30, ENDS)
    change(log, "D", 120, -DAY_MINUTES, BEGINS)
    change(log, "D", 180, 0)
    return read(api, 11)


def read(api: Answers, records: int) -> Answers:
    return api.await_read("/v1/markdowns", PRICE_CHANGES.name, records)


def list_skus(page: Any) -> list[str]:
    return [markdown["sku"] for markdown in page["items"]]


def test_the_open_come_first_then_the_ended_and_of_each_the_last_to_hold(priced: Answers) -> None:
    page = priced.json("/v1/markdowns")
    assert list_skus(page) == ["B", "A", "D", "C"]
    assert [markdown["state"] for markdown in page["items"]] == ["open", "open", "ended", "ended"]
    assert page["items"][1] == {
        "sku": "A",
        "usual_price_cents": 200,
        "price_cents": 150,
        "decided_at": "2026-03-02T11:30:00.000Z",
        "holds_from": "2026-03-02T11:50:00.000Z",
        "until": None,
        "state": "open",
    }
    assert page["next"] is None


def test_the_gates_end_and_anothers_price_both_end_it(priced: Answers) -> None:
    another, gate = priced.json("/v1/markdowns", state="ended")["items"]
    assert (another["sku"], another["until"]) == ("D", "2026-03-02T12:00:00.000Z")
    assert (gate["sku"], gate["until"]) == ("C", "2026-03-02T11:30:00.000Z")


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"state": "open"}, ["B", "A"]),
        ({"state": "ended"}, ["D", "C"]),
        ({"sku": "C"}, ["C"]),
        ({"state": "open", "sku": "C"}, []),
        ({"sku": "E"}, []),
    ],
)
def test_they_are_found_by_state_and_product(
    priced: Answers, filters: dict[str, str], wanted: list[str]
) -> None:
    assert list_skus(priced.json("/v1/markdowns", **filters)) == wanted


def test_a_markdown_is_open_until_the_announced_end_has_come(
    log: MemoryLog, priced: Answers
) -> None:
    change(log, "A", 200, 15, ENDS)
    change(log, "A", 200, 15, ENDS)  # sent again
    [markdown] = read(priced, 13).json("/v1/markdowns", sku="A")["items"]
    assert (markdown["state"], markdown["until"]) == ("open", "2026-03-02T12:15:00.000Z")
    announce(log, NOON + timedelta(minutes=15))
    ended = priced.eventually("/v1/markdowns", lambda page: page["items"][1]["state"] == "ended")
    assert (ended["items"][1]["sku"], ended["items"][1]["until"]) == ("A", markdown["until"])


def test_a_product_marked_down_again_has_the_price_of_others_as_its_usual_one(
    log: MemoryLog, priced: Answers
) -> None:
    change(log, "D", 90, 20, BEGINS)
    again, before = read(priced, 12).json("/v1/markdowns", sku="D")["items"]
    assert (again["usual_price_cents"], again["price_cents"]) == (180, 90)
    assert (before["usual_price_cents"], before["price_cents"]) == (200, 120)


def test_what_lowers_no_price_is_none_and_nothing_is_marked_down_in_a_new_world(
    log: MemoryLog, api: Answers
) -> None:
    announce(log)
    assert api.eventually("/v1/markdowns", bool)["items"] == []
    change(log, "Z", 10, -10, BEGINS)
    assert read(api, 1).json("/v1/markdowns")["items"] == []
