"""No price is changed twice, after any kill and with any generation promoted."""

from datetime import timedelta
from pathlib import Path

import pytest

from contracts import MARKDOWN_PROPOSALS, PRICE_CHANGES
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from services.markdowns.gate import MARKING_DOWN, READER
from tests.brokers import empty_broker
from tests.seeds import create_random
from tests.services.gated import Gated
from tests.services.markdowns.shop import LOWER_CENTS, USUAL_CENTS, Pricing, to_ms
from tests.transactions import open_transaction

pytestmark = pytest.mark.e2e

SKUS = [f"SKU-{number}" for number in range(8)]
TOO_MANY = dict.fromkeys(SKUS, 501)
SOLD = dict.fromkeys(SKUS, -450)
DAY = 48
"""Half-hours after which a price may be changed again."""
BEGUN = [(sku, LOWER_CENTS) for sku in SKUS]
ENDED = [(sku, USUAL_CENTS) for sku in SKUS]


@pytest.fixture
def shop(shared_broker: Settings, tmp_path: Path) -> Pricing:
    """Each test has the log to itself, with usual prices and a promoted generation."""
    made = Pricing(empty_broker(shared_broker, tmp_path))
    for sku in SKUS:
        made.set_price(sku)
    made.promote(1)
    return made


@pytest.fixture
def kafka(shop: Pricing) -> Settings:
    return shop.kafka


def open_gate(kafka: Settings) -> Gated:
    return Gated(kafka, MARKING_DOWN)


def run_gate(kafka: Settings, half_hours: int) -> None:
    """A gate's life, until it has answered the half-hour."""
    open_gate(kafka).live(to_ms(half_hours))


def test_it_publishes_what_the_promoted_generation_calls_for_and_only_once(
    shop: Pricing, kafka: Settings
) -> None:
    shop.promote(2)
    shop.promote(1)
    shop.propose(1, 1, TOO_MANY)
    shop.propose(2, 1, {"SKU-other": 501})
    gate = open_gate(kafka)
    shop.end(1, 0)
    assert gate.look() == to_ms(0), "the next half-hour is not over"
    assert shop.changes() == []
    shop.end(1, 1)
    shop.mark(2)
    assert gate.look() == to_ms(1)
    assert shop.by_half_hour() == {1: BEGUN}
    [notice] = {row["effective_at"] - row["event_time"] for row in shop.changes()}
    assert notice == timedelta(minutes=20)

    shop.promote(2)
    shop.propose(2, 1, TOO_MANY)
    shop.mark(2)
    assert gate.look() == to_ms(1), "the past is not decided again"
    shop.propose(2, 1 + DAY, SOLD)
    shop.end(2, 1 + DAY)
    run_gate(kafka, 1 + DAY)
    assert shop.by_half_hour() == {1: BEGUN, 1 + DAY: ENDED}


def test_a_gate_that_was_away_decides_as_one_that_was_there(shop: Pricing, kafka: Settings) -> None:
    """It reads the rows again, but for those whose retention is over."""
    shop.end(1, 0)
    assert open_gate(kafka).look() == to_ms(0)
    shop.propose(1, 1, {SKUS[0]: 400, SKUS[1]: 501})
    shop.propose(1, 2, {SKUS[0]: 101})
    shop.propose(1, 5, {SKUS[2]: 501})
    over = {"ends_at": to_ms(-900), "period": "half-hour", "sku": SKUS[0]}
    shop.delete(1, MARKDOWN_PROPOSALS, over)
    set_aside = READER.count_set_aside()
    shop.end(1, 5)
    assert open_gate(kafka).look() == to_ms(5)
    assert READER.count_set_aside() == set_aside
    assert shop.by_half_hour() == {
        1: [(SKUS[1], LOWER_CENTS)],
        2: [(SKUS[0], LOWER_CENTS)],
        5: [(SKUS[2], LOWER_CENTS)],
    }


def test_a_markdown_ends_at_the_price_that_others_have_set(shop: Pricing, kafka: Settings) -> None:
    shop.set_price(SKUS[0], 190, since_ms=to_ms(-1))
    shop.propose(1, 1, {SKUS[0]: 501, SKUS[1]: 501})
    shop.end(1, 1)
    run_gate(kafka, 1)
    assert shop.by_half_hour() == {1: [(SKUS[1], LOWER_CENTS)]}, "the proposal's price is over"
    shop.set_price(SKUS[1], 170, since_ms=to_ms(9))
    shop.propose(1, 1 + DAY, {SKUS[1]: -501})
    shop.end(1, 1 + DAY)
    run_gate(kafka, 1 + DAY)
    assert 1 + DAY not in shop.by_half_hour(), "the other's price has ended it"


def test_no_half_hour_is_answered_while_some_price_cannot_be_read(
    shop: Pricing, kafka: Settings
) -> None:
    shop.propose(1, 1, TOO_MANY)
    shop.end(1, 1)
    gate = open_gate(kafka)
    with open_transaction(kafka, (PRICE_CHANGES.name, 0), [b"not a price"]):
        assert gate.look() == 0
    assert gate.look() == to_ms(1)
    assert shop.by_half_hour() == {1: BEGUN}


def test_a_killed_gate_changes_every_price_once(shop: Pricing, kafka: Settings) -> None:
    """kill -9, as soon as its changes are seen, committed or not."""
    chance = create_random("deaths of the gate of markdowns")
    for number, moved in ((1, TOO_MANY), (1 + DAY, SOLD)):
        before = shop.count_records(PRICE_CHANGES)
        shop.propose(1, number, moved)
        shop.end(1, number)
        seen = before + chance.randint(1, len(SKUS))
        killed = start_module(kafka, kafka.data_dir / "markdowns.log", "services.markdowns")
        wait_until(lambda seen=seen: shop.count_records(PRICE_CHANGES) >= seen, "it publishes", 60)  # type: ignore[misc]
        killed.kill()
        killed.wait(30)
        run_gate(kafka, number)
    assert shop.by_half_hour() == {1: BEGUN, 1 + DAY: ENDED}
