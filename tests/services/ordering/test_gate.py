"""No order is published twice, after any kill and with any generation promoted."""

from datetime import timedelta
from pathlib import Path

import pytest

from contracts import POSITION_CHANGES, PROPOSALS, PURCHASE_ORDERS
from contracts.times import EPOCH, MILLISECOND
from infra.errors import UserError
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.marker import read_marker
from ops.generations.record import read_generations
from services.gate import Publisher
from services.ordering.gate import ORDERING, READER, OrderAnswers
from tests.brokers import empty_broker
from tests.seeds import create_random
from tests.services.at_work import Died, limit_life
from tests.services.gated import MINUTE_MS, Gated
from tests.services.ordering.shop import Reordering, find_review_ms
from tests.transactions import open_transaction

pytestmark = pytest.mark.e2e

SKUS = [f"SKU-{number}" for number in range(20)]
MIDNIGHT = EPOCH + find_review_ms(0) * MILLISECOND
EMPTY = dict.fromkeys(SKUS, 10)
"""As many units on each shelf, and far fewer than its reorder point."""
SOLD = dict.fromkeys(SKUS, -60)
"""What makes it order again at the next review."""


@pytest.fixture
def kafka(shared_broker: Settings, tmp_path: Path) -> Settings:
    """Each test has the log to itself."""
    return empty_broker(shared_broker, tmp_path)


def open_gate(kafka: Settings) -> Gated:
    return Gated(kafka, ORDERING)


def run_gate(kafka: Settings, until_review: int) -> None:
    """A gate's life, up to the answer to a review."""
    open_gate(kafka).live(find_review_ms(until_review))


def after_review(number: int, minutes: int = 1) -> int:
    """The minute that is due once the world comes to the review and two minutes further."""
    return find_review_ms(number) + minutes * MINUTE_MS


def test_it_orders_what_the_promoted_generation_proposes_and_only_once(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = open_gate(kafka)
    shop.promote(1)
    shop.promote(2)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.propose(2, 0, dict.fromkeys(["SKU-other"], 0))
    shop.beat(0)
    shop.mark(1, behind=2)
    shop.mark(2)
    assert gate.look() == 0, "generation 1 has not read all before the review"
    assert shop.orders() == []

    shop.mark(1)
    assert gate.look() == after_review(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}

    shop.promote(2)
    assert gate.look() == after_review(0), "the past is not ordered again"
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}

    shop.review(2, 1, EMPTY)
    shop.review(2, 2, SOLD)
    run_gate(kafka, 2)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1), 2: dict.fromkeys(SKUS, 1)}, (
        "with what was ordered by the levels of another generation, no shelf lacks any at review 1"
    )


def test_between_reviews_it_orders_what_crosses_its_point_whenever_it_looks(
    kafka: Settings,
) -> None:
    """The same by a gate that looks after each minute, and by one that was away."""
    shop = Reordering(kafka)
    shop.promote(1)
    shop.propose(1, 0, {SKUS[0]: 50, SKUS[1]: 50}, review_days=0)
    shop.beat(0)
    shop.mark(1)
    assert open_gate(kafka).look() == after_review(0)
    shop.change(1, after_review(0, 5), {SKUS[0]: -20})
    shop.change(1, after_review(0, 9), {SKUS[0]: -40, SKUS[1]: -12})
    shop.delete(1, POSITION_CHANGES, {"sku": SKUS[1], "changed_at": find_review_ms(-9)})
    set_aside = READER.count_set_aside()
    shop.beat_at(after_review(0, 11))
    shop.mark(1)
    assert open_gate(kafka).look() == after_review(0, 10)
    ordered = [
        (order["sku"], (order["review_at"] - MIDNIGHT) / timedelta(minutes=1), order["units"])
        for order in shop.orders()
    ]
    assert READER.count_set_aside() == set_aside
    assert sorted(ordered) == [(SKUS[0], 5, 36), (SKUS[0], 9, 36), (SKUS[1], 9, 24)]


def test_a_generation_without_rows_by_minute_is_refused(kafka: Settings) -> None:
    shop = Reordering(kafka)
    shop.promote(1, views=(PROPOSALS,))
    shop.propose(1, 0, {})
    shop.beat(0)
    shop.mark(1, views=(PROPOSALS,))
    with pytest.raises(UserError, match="make replay PIPELINE=reorder"):
        open_gate(kafka).look()


def test_no_minute_is_answered_before_a_heartbeat_says_that_it_is_over(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = open_gate(kafka)
    shop.promote(1)
    shop.beat(-1)
    shop.propose(1, 0, EMPTY)
    shop.mark(1)
    assert gate.look() == after_review(-1), "later proposals do not matter"
    assert shop.orders() == []

    shop.beat(0)
    assert gate.look() == after_review(-1), "the marker says nothing of what came with the beat"
    shop.mark(1)
    assert gate.look() == after_review(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_a_heartbeat_of_another_time_makes_no_minute_due(kafka: Settings) -> None:
    shop = Reordering(kafka)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.beat(-1)
    shop.beat_at(find_review_ms(100_000))
    shop.mark(1)
    assert open_gate(kafka).look() == after_review(-1)
    assert shop.orders() == []


def test_the_log_may_grow_while_a_minute_waits_for_what_came_before_it(kafka: Settings) -> None:
    shop = Reordering(kafka)
    gate = open_gate(kafka)
    shop.promote(1)
    shop.propose(1, 0, EMPTY)
    shop.beat(0)
    shop.mark(1, behind=1)
    assert gate.look() == 0
    shop.mark(1)
    shop.beat_at(after_review(0, 3))
    assert gate.look() == after_review(0)


def test_no_minute_is_answered_while_some_order_cannot_be_read(kafka: Settings) -> None:
    """Whether it is committed is not known yet, and a later minute counts on it."""
    shop = Reordering(kafka)
    gate = open_gate(kafka)
    shop.promote(1)
    shop.review(1, 0, EMPTY)
    with open_transaction(kafka, (PURCHASE_ORDERS.name, 0), [b"not an order"]):
        assert gate.look() == 0
    assert shop.by_review() == {}
    assert gate.look() == after_review(0)
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_an_older_gate_orders_nothing_more(kafka: Settings) -> None:
    shop = Reordering(kafka)
    shop.promote(1)
    shop.review(1, 0, EMPTY)
    older, newer = open_gate(kafka), open_gate(kafka)
    with pytest.raises(UserError, match="another one has begun"):
        older.look()
    assert shop.orders() == []
    newer.look()
    assert shop.by_review() == {0: dict.fromkeys(SKUS, 1)}


def test_a_gate_that_dies_anywhere_orders_every_review_once(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = create_random("deaths of the gate")
    shop = Reordering(kafka)
    shop.promote(1)
    life = limit_life(monkeypatch, "services.gate")
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
        before = shop.count_records(PURCHASE_ORDERS)
        shop.review(1, number, SOLD if number else EMPTY)
        seen = before + chance.randint(1, len(SKUS))
        killed = start_module(kafka, kafka.data_dir / "ordering.log", "services.ordering")
        wait_until(lambda seen=seen: shop.count_records(PURCHASE_ORDERS) >= seen, "it orders", 60)  # type: ignore[misc]
        killed.kill()
        killed.wait(30)
        run_gate(kafka, number)
    assert shop.by_review() == {number: dict.fromkeys(SKUS, 1) for number in range(3)}


def test_a_gate_remembers_the_orders_of_a_day(kafka: Settings) -> None:
    """Its own come back from the log, which counts none of them twice."""
    shop = Reordering(kafka)
    shop.promote(1)
    publisher = Publisher(kafka, ORDERING)
    generation = read_generations(kafka)["reorder"].promoted
    assert generation is not None
    answers = OrderAnswers(kafka, generation, find_review_ms(-1))
    remembered = []
    for number in range(5):
        shop.review(1, number, SOLD if number else EMPTY)
        marker = read_marker(kafka, "reorder", 1)
        assert marker is not None
        assert answers.take_until(marker)
        minute_ms = after_review(number)
        publisher.publish(answers.answer(minute_ms, minute_ms), minute_ms, minute_ms)
        remembered.append(len(answers.given))
    publisher.close()
    assert shop.by_review() == {number: dict.fromkeys(SKUS, 1) for number in range(5)}
    assert remembered == [20, 40, 40, 40, 40]
