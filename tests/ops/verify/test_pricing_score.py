"""What markdowns are worth, on small worlds without a log."""

from dataclasses import replace

import pytest

from contracts import RECEIPTS, REFUNDS
from generators.parameters import Parameters
from generators.products import ELASTICITY
from generators.world import World
from ops.verify.pricing_score import live
from pipelines.pricing.thresholds import Thresholds
from tests.ops.cli.commands import run_command

WORLD = Parameters(seed=3, stores=2, products=40, receipts_per_minute=2.0, overstock_share=0.25)
DAYS = 3


def test_the_margin_is_what_was_paid_less_the_cost_of_goods_and_of_holding_them() -> None:
    world = World(WORLD)
    costs = {product.sku: product.unit_cost_cents for product in world.products}
    paid = goods = 0
    for _ in range(24 * 60):
        for publication in world.tick():
            sign = {RECEIPTS.name: 1, REFUNDS.name: -1}.get(publication.topic, 0)
            for line in publication.event["lines"] if sign else ():
                paid += sign * line["units"] * line["unit_price_cents"]
                goods += sign * line["units"] * costs[line["sku"]]
    margin = live(WORLD, 1, None)
    assert (margin.revenue_cents, margin.goods_cents, margin.markdowns) == (paid, goods, 0)
    assert margin.cents == pytest.approx(paid - goods - margin.holding_cents)
    assert 0 < margin.holding_cents < margin.stock_cents


def test_what_lies_there_for_too_long_is_marked_down_and_sells_more_the_more_customers_react(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = live(WORLD, DAYS, None)
    marked = live(WORLD, DAYS, Thresholds())
    assert marked.markdowns > 0
    assert marked.goods_cents > usual.goods_cents
    monkeypatch.setattr("generators.prices.ELASTICITY", dict.fromkeys(ELASTICITY, 0))
    unmoved = live(WORLD, DAYS, Thresholds())
    assert unmoved.goods_cents == usual.goods_cents
    assert unmoved.revenue_cents < usual.revenue_cents
    monkeypatch.setattr("generators.prices.ELASTICITY", dict.fromkeys(ELASTICITY, 12))
    assert live(WORLD, DAYS, Thresholds()).cents > usual.cents


def test_the_command_shows_both_worlds_and_what_was_gained() -> None:
    said = run_command("score", "pricing", "--days", "2", "--seed", "3")
    for words in ("usual prices", "with markdowns", "margin gained", "stock freed"):
        assert words in said


def test_a_world_in_which_nothing_is_slow_has_no_markdown() -> None:
    even = replace(WORLD, overstock_share=0.0)
    assert live(even, DAYS, Thresholds(cover_days=1_000)) == live(even, DAYS, None)
