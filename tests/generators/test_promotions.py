"""Promotions: announced ahead, cheaper while they hold, bought more, and over again."""

from collections import Counter
from itertools import pairwise

from contracts import PRICE_CHANGES, RECEIPTS
from generators.promotions import DAYS_MAX, DAYS_MIN, Promotions
from generators.ticks import HOUR_MS, START_MS
from tests.generators.worlds import CLEAN, published

DAYS = 10
HOURS = 24 * DAYS
PROMOTIONS = Promotions(CLEAN.seed, CLEAN.products)
MIDNIGHT_MS = START_MS - 8 * HOUR_MS


def day_of(at_ms: int) -> int:
    return (at_ms - MIDNIGHT_MS) // (24 * HOUR_MS)


def sku(product: int) -> str:
    return f"SKU-{product:05d}"


def test_no_promotion_holds_before_it_can_be_announced() -> None:
    assert not PROMOTIONS.on(0)
    assert any(PROMOTIONS.on(day) for day in range(1, DAYS))


def test_promotions_last_some_days_and_end() -> None:
    promotions = Promotions(seed=5, products=200)
    for product in range(200):
        on = [product in promotions.on(day) for day in range(60)]
        turns = [day for day, (before, after) in enumerate(pairwise(on)) if before != after]
        for began, ended in zip(turns[::2], turns[1::2], strict=False):
            assert DAYS_MIN <= ended - began <= DAYS_MAX


def test_a_promoted_product_is_announced_cheaper_and_usual_again_afterwards() -> None:
    changes = {
        (change["sku"], day_of(change["effective_at"])): change["price_cents"]
        for change in published(CLEAN, PRICE_CHANGES, HOURS)
    }
    begun = 0
    for day in range(1, DAYS - 1):
        today, tomorrow = PROMOTIONS.on(day), PROMOTIONS.on(day + 1)
        for product in tomorrow.keys() - today.keys():
            usual = [changes.get((sku(product), on)) for on in range(day + 1)]
            assert changes[sku(product), day + 1] < 0.9 * [cents for cents in usual if cents][-1]
            begun += 1
        for product in today.keys() - tomorrow.keys():
            assert changes[sku(product), day + 1] > changes[sku(product), began(product, day)]
    assert begun


def began(product: int, day: int) -> int:
    return next(on + 1 for on in range(day, -1, -1) if product not in PROMOTIONS.on(on))


def test_more_is_sold_of_what_is_promoted() -> None:
    """Against the same product on its other days."""
    sold: Counter[tuple[str, int]] = Counter()
    for receipt in published(CLEAN, RECEIPTS, HOURS):
        for line in receipt["lines"]:
            sold[line["sku"], day_of(receipt["event_time"])] += line["units"]
    promoted, usual = [], []
    full_days = range(1, DAYS)
    for product in range(CLEAN.products):
        on = [day for day in full_days if product in PROMOTIONS.on(day)]
        off = [day for day in full_days if day not in on]
        if on:
            promoted.append(sum(sold[sku(product), day] for day in on) / len(on))
            usual.append(sum(sold[sku(product), day] for day in off) / len(off))
    assert sum(promoted) > 1.5 * sum(usual)
