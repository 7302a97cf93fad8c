"""No order is published twice, after any kill and with any generation promoted."""

from pathlib import Path

import pytest

from contracts import PURCHASE_ORDERS
from infra.errors import UserError
from infra.kafka import create_admin, read_high_watermarks
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from services.ordering.gate import OrderPublisher, Reviews, answer_review
from tests.brokers import empty_broker
from tests.seeds import create_random
from tests.services.at_work import Died, limit_life
from tests.services.ordering.shop import MINUTE_MS, Reordering, find_review_ms
from tests.transactions import open_transaction

pytestmark = pytest.mark.e2e

SKUS = [f"SKU-{number}" for number in range(20)]
EMPTY = dict.fromkeys(SKUS, 10)
"""As many units on each shelf, and far fewer than its reorder point."""
SOLD = dict.fromkeys(SKUS, -60)
"""What makes it order again at the next review."""


@pytest.fixture
def kafka(shared_broker: Settings, tmp_path: Path) -> Settings:
    """Each test has the log to itself."""
    return empty_broker(shared_broker, tmp_path)


def run_gate(kafka: Settings, until_review: int) -> None:
    """A gate's life, up to the answer to a review."""
    gate = OrderPublisher(kafka)
    answered_ms = gate.find_answered_ms()
    while answered_ms < find_review_ms(until_review):
        answered_ms = answer_review(kafka, Reviews(kafka), gate, answered_ms)
    gate.close()


def test_it_orders_what_the_promoted_generation_proposes_and_only_once(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = OrderPublisher(kafka)
    shop.promote(1)
    shop.promote(2)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.propose(2, 0, dict.fromkeys(["SKU-other"], 0))
    shop.beat(-1)
    shop.beat(0)
    shop.mark(1, behind=2)
    shop.mark(2)
    assert answer_review(kafka, Reviews(kafka), gate, 0) == 0, (
        "generation 1 has not read all before the review"
    )
    assert shop.orders() == []

    shop.mark(1)
    assert answer_review(kafka, Reviews(kafka), gate, 0) == find_review_ms(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}
    assert gate.find_answered_ms() == find_review_ms(0)

    shop.promote(2)
    assert answer_review(kafka, Reviews(kafka), gate, find_review_ms(0)) == find_review_ms(0), (
        "the past is not ordered again"
    )
    assert answer_review(kafka, Reviews(kafka), gate, 0) == find_review_ms(0), (
        "who has forgotten it, asks for other shelves"
    )
    assert shop.by_review() == {0: {**dict.fromkeys(SKUS, 1), "SKU-other": 1}}

    shop.review(2, 1, EMPTY)
    shop.review(2, 2, SOLD)
    run_gate(kafka, 2)
    assert shop.by_review().keys() == {0, 2}, "what was missed is not made up for"


def test_no_review_is_answered_before_a_heartbeat_says_that_it_is_over(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = OrderPublisher(kafka)
    shop.promote(1)
    shop.beat(-1)
    shop.propose(1, 0, EMPTY)
    shop.mark(1)
    assert answer_review(kafka, Reviews(kafka), gate, 0) == find_review_ms(-1), (
        "later proposals do not matter"
    )
    assert shop.orders() == []

    shop.beat(0)
    assert answer_review(kafka, Reviews(kafka), gate, find_review_ms(-1)) == find_review_ms(-1), (
        "the marker says nothing of what came with the heartbeat"
    )
    shop.mark(1)
    assert answer_review(kafka, Reviews(kafka), gate, find_review_ms(-1)) == find_review_ms(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_a_heartbeat_of_another_time_makes_no_review_due(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = OrderPublisher(kafka)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.beat(-1)
    shop.beat_at(find_review_ms(100_000))
    shop.mark(1)
    assert answer_review(kafka, Reviews(kafka), gate, 0) == find_review_ms(-1)
    assert shop.orders() == []


def test_the_log_may_grow_while_a_review_waits_for_what_came_before_it(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate, reviews = OrderPublisher(kafka), Reviews(kafka)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.beat(0)
    shop.mark(1, behind=1)
    assert answer_review(kafka, reviews, gate, 0) == 0
    shop.mark(1)
    shop.beat_at(find_review_ms(0) + 3 * MINUTE_MS)
    assert answer_review(kafka, reviews, gate, 0) == find_review_ms(0)


def test_no_review_is_answered_while_some_order_cannot_be_read(kafka: Settings) -> None:
    """Whether it is committed is not known yet, and a later review counts on it."""
    shop = Reordering(kafka)
    gate = OrderPublisher(kafka)
    shop.promote(1)
    shop.review(1, 0, EMPTY)
    with open_transaction(kafka, (PURCHASE_ORDERS.name, 0), [b"not an order"]):
        assert answer_review(kafka, Reviews(kafka), gate, 0) == 0
    assert shop.by_review() == {}
    assert answer_review(kafka, Reviews(kafka), gate, 0) == find_review_ms(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_an_older_gate_orders_nothing_more(kafka: Settings) -> None:
    shop = Reordering(kafka)
    shop.promote(1)
    shop.review(1, 0, EMPTY)
    older, newer = OrderPublisher(kafka), OrderPublisher(kafka)
    with pytest.raises(UserError, match="another one has begun"):
        answer_review(kafka, Reviews(kafka), older, 0)
    assert shop.orders() == []
    answer_review(kafka, Reviews(kafka), newer, 0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_a_gate_that_dies_anywhere_orders_every_review_once(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = create_random("deaths of the gate")
    shop = Reordering(kafka)
    shop.promote(1)
    life = limit_life(monkeypatch, "services.ordering.gate")
    for number in range(4):
        shop.review(1, number, SOLD if number else EMPTY)
        life.rows_left = chance.randint(1, len(SKUS))
        with pytest.raises(Died):
            run_gate(kafka, number)
        run_gate(kafka, number)
    assert shop.by_review() == {number: dict.fromkeys(SKUS, 1) for number in range(4)}


def test_a_killed_gate_orders_every_review_once(kafka: Settings) -> None:
    """kill -9, as soon as its orders are seen, committed or not."""
    chance = create_random("deaths of the gate")
    shop = Reordering(kafka)
    shop.promote(1)
    for number in range(3):
        before = count_records(kafka)
        shop.review(1, number, SOLD if number else EMPTY)
        seen = before + chance.randint(1, len(SKUS))
        killed = start_module(kafka, kafka.data_dir / "ordering.log", "services.ordering")
        wait_until(lambda seen=seen: count_records(kafka) >= seen, "it orders", 60)  # type: ignore[misc]
        killed.kill()
        killed.wait(30)
        run_gate(kafka, number)
    assert shop.by_review() == {number: dict.fromkeys(SKUS, 1) for number in range(3)}


def count_records(kafka: Settings) -> int:
    """Orders and marks of transactions, the open ones' too."""
    return sum(read_high_watermarks(create_admin(kafka), [PURCHASE_ORDERS.name]).values())
