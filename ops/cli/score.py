"""retail score fraud | reorder | pricing: how good answers are.

Alerts are compared with the simulator's incidents; the cost of the reorder policy with a lower
bound; the margin of markdowns with the same world without them.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated

import typer

from generators.parameters import Parameters
from infra.settings import read_settings
from ops.cli import screen
from ops.cli.topics import require_broker
from ops.verify.fraud_score import Score, Scores, Share, score_view
from ops.verify.pricing_score import Margin, live
from ops.verify.reorder_score import HOLDING_PER_DAY, ORDER_CENTS, compare
from ops.verify.reorder_score import Score as Way
from pipelines.pricing.thresholds import Thresholds

HEADINGS = ("rule", "caught", "recall", "right", "precision", "decided in")

FILL_RATE_MIN = 0.99
COST_MAX = 1.7  # of the lower bound
REORDER_HEADINGS = (
    *("", "fill rate", "stock", "orders", "holding", "ordering", "lost", "cost"),
    "of bound",
)
PRICING_HEADINGS = ("", "revenue", "goods", "holding", "margin", "stock left", "markdowns")
PRICED_PRODUCTS, PRICED_RECEIPTS_PER_MINUTE, PRICED_OVERSTOCK_SHARE = 100, 4.0, 0.1
STORES, PRODUCTS, RECEIPTS_PER_MINUTE = 2, 30, 1.0
"""A world small enough to run twice; its shelves sell as much as those of a large one."""

app = typer.Typer(no_args_is_help=True)


@app.command()
def fraud() -> None:
    """Score the alerts that are served, by incident."""
    settings = require_broker(read_settings())
    with screen.show_waiting("score", "reading the alerts, and what was planted"):
        scores = score_view(settings)
    show(scores)
    if not scores.good:
        raise typer.Exit(1)


def show(scores: Scores) -> None:
    by_rule = {**scores.by_rule, "all": scores.total}
    screen.print_table(HEADINGS, [build_row(rule, score) for rule, score in by_rule.items()])
    screen.say(f"  {'reached' if scores.good else 'NOT REACHED'}: recall 95 %, precision 90 %,")
    screen.say("  and 85 % in both by every rule")


def build_row(rule: str, score: Score) -> tuple[str, ...]:
    span = score.decided_in
    return (
        rule,
        str(score.recall),
        render_percent(score.recall),
        str(score.precision),
        render_percent(score.precision),
        "" if span is None else f"{span / timedelta(minutes=1):,.1f} min",
    )


def render_percent(share: Share) -> str:
    return f"{share.share:.1%}" if share.of else "none"


@app.command()
def reorder(
    days: Annotated[int, typer.Option(min=7, max=60, help="Days that each world runs.")] = 14,
    seed: Annotated[int | None, typer.Option(min=0, help="Else the simulator's.")] = None,
) -> None:
    """Run one clean world with the policy, and with the policy at reviews only.

    The comparison includes the cost of the cheapest orders, computed with all of the world known.
    """
    world = clean(read_settings().simulator_seed if seed is None else seed)
    with screen.show_waiting("score", f"simulating {days} days twice, without a log"):
        comparison = compare(world, days)
    reached = comparison.policy.fill_rate >= FILL_RATE_MIN and comparison.of_bound <= COST_MAX
    screen.print_table(
        REORDER_HEADINGS,
        [build_way(name, way, comparison.bound_cents) for name, way in comparison.ways.items()],
    )
    screen.say(
        f"  an order {ORDER_CENTS} cents · holding a unit for a day "
        f"{HOLDING_PER_DAY:.1%} of its cost · a lost unit its margin"
    )
    screen.say(f"  no orders could have cost less than {comparison.bound_cents / 100:,.0f}")
    verdict = "reached" if reached else "NOT REACHED"
    screen.say(f"  {verdict}: fill rate {FILL_RATE_MIN:.0%}, cost {COST_MAX:.0%} of the bound")
    if not reached:
        raise typer.Exit(1)


@app.command()
def pricing(
    days: Annotated[int, typer.Option(min=2, max=60, help="Days that each world runs.")] = 10,
    seed: Annotated[int | None, typer.Option(min=0, help="Else the simulator's.")] = None,
) -> None:
    """Run one clean world with its usual prices, and with the markdowns of the policy.

    A tenth of its products open with too much stock. Customers react by the planted elasticity.
    """
    world = replace(
        clean(read_settings().simulator_seed if seed is None else seed),
        products=PRICED_PRODUCTS,
        receipts_per_minute=PRICED_RECEIPTS_PER_MINUTE,
        overstock_share=PRICED_OVERSTOCK_SHARE,
    )
    with screen.show_waiting("score", f"simulating {days} days twice, without a log"):
        usual, marked = live(world, days, None), live(world, days, Thresholds())
    rows = [build_margin("usual prices", usual), build_margin("with markdowns", marked)]
    screen.print_table(PRICING_HEADINGS, rows)
    gained, freed = marked.cents - usual.cents, usual.stock_cents - marked.stock_cents
    screen.say(
        f"  margin gained {gained / 100:,.0f}, {gained / usual.cents:.1%} · stock freed, at cost "
        f"{freed / 100:,.0f}"
    )


def build_margin(name: str, margin: Margin) -> tuple[str, ...]:
    money = (
        *(margin.revenue_cents, margin.goods_cents, margin.holding_cents),
        *(margin.cents, margin.stock_cents),
    )
    return (name, *(f"{cents / 100:,.0f}" for cents in money), f"{margin.markdowns:,}")


def clean(seed: int) -> Parameters:
    """A world without dirt and fraud: the events equal what happened."""
    return Parameters(
        seed=seed, stores=STORES, products=PRODUCTS, receipts_per_minute=RECEIPTS_PER_MINUTE
    )


def build_way(name: str, way: Way, bound_cents: float) -> tuple[str, ...]:
    return (
        name,
        f"{way.fill_rate:.1%}",
        f"{way.stock_units:,.0f}",
        f"{way.orders:,}",
        *[
            f"{cents / 100:,.0f}"
            for cents in (way.holding_cents, way.ordering_cents, way.lost_cents, way.cost_cents)
        ],
        f"{way.cost_cents / bound_cents:.0%}",
    )
