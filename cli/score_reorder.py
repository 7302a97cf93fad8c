"""retail score reorder: what the policy costs, beside vans and beside the best levels."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from audit.reorder_score import Costs, Score, compared
from cli import screen
from generators.parameters import Parameters
from infra.settings import read_settings

FILL_RATE_MIN = 0.97
COST_MAX = 1.15  # of the best levels'
HEADINGS = ("", "fill rate", "stock", "orders", "holding", "ordering", "lost", "cost", "of best")
STORES, PRODUCTS, RECEIPTS_PER_MINUTE = 2, 30, 1.0
"""A world small enough to live three times; its shelves sell as much as those of a large one."""


def reorder(
    days: Annotated[int, typer.Option(min=7, max=60, help="How long each world lives.")] = 14,
    seed: Annotated[int | None, typer.Option(min=0, help="Else the simulator's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Live one clean world by vans, by the policy, and by the best levels found in hindsight."""
    world = clean(read_settings().simulator_seed if seed is None else seed)
    costs = Costs()
    with screen.waiting("score", f"living {days} days three times, without a log"):
        found = dict(compared(world, days, costs))
    *_, policy, best = found.values()
    reached = policy.fill_rate >= FILL_RATE_MIN and policy.cost_cents <= COST_MAX * best.cost_cents
    if as_json:
        ways = {name: asdict(one) | totals(one) for name, one in found.items()}
        print(json.dumps({"good": reached, "costs": asdict(costs), "ways": ways}))
    else:
        screen.table(HEADINGS, [row(name, one, best) for name, one in found.items()])
        screen.say(
            f"  an order {costs.order_cents} cents · holding a unit for a day "
            f"{costs.holding_per_day:.1%} of its cost · a lost unit its margin"
        )
        verdict = "reached" if reached else "NOT REACHED"
        screen.say(f"  {verdict}: fill rate {FILL_RATE_MIN:.0%}, cost {COST_MAX:.0%} of the best")
    if not reached:
        raise typer.Exit(1)


def clean(seed: int) -> Parameters:
    """A world without dirt and fraud: what is counted is what happened."""
    return Parameters(
        seed=seed,
        stores=STORES,
        products=PRODUCTS,
        receipts_per_minute=RECEIPTS_PER_MINUTE,
    )


def row(name: str, one: Score, best: Score) -> tuple[str, ...]:
    return (
        name,
        f"{one.fill_rate:.1%}",
        f"{one.stock_units:,.0f}",
        f"{one.orders:,}",
        *[
            f"{cents / 100:,.0f}"
            for cents in (one.holding_cents, one.ordering_cents, one.lost_cents, one.cost_cents)
        ],
        f"{one.cost_cents / best.cost_cents:.0%}",
    )


def totals(one: Score) -> dict[str, float]:
    return {"fill_rate": one.fill_rate, "cost_cents": one.cost_cents}
