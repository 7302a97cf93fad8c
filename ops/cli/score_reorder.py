"""retail score reorder: the cost of the policy, compared with vans and a lower bound."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from generators.parameters import Parameters
from infra.settings import read_settings
from ops.cli import screen
from ops.verify.reorder_score import Comparison, Costs, Score, compare

FILL_RATE_MIN = 0.97
COST_MAX = 1.3  # of the lower bound
HEADINGS = (
    *("", "fill rate", "stock", "orders", "holding", "ordering", "lost", "cost"),
    "of bound",
)
STORES, PRODUCTS, RECEIPTS_PER_MINUTE = 2, 30, 1.0
"""A world small enough to run twice; its shelves sell as much as those of a large one."""


def reorder(
    days: Annotated[int, typer.Option(min=7, max=60, help="Days that each world runs.")] = 14,
    seed: Annotated[int | None, typer.Option(min=0, help="Else the simulator's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Run one clean world with vans and with the policy.

    The comparison includes the cost of the cheapest orders, computed with all of the world known.
    """
    world = clean(read_settings().simulator_seed if seed is None else seed)
    costs = Costs()
    with screen.show_waiting("score", f"simulating {days} days twice, without a log"):
        comparison = compare(world, days, costs)
    reached = comparison.policy.fill_rate >= FILL_RATE_MIN and comparison.of_bound <= COST_MAX
    if as_json:
        print(json.dumps({"good": reached, "costs": asdict(costs), **build_document(comparison)}))
    else:
        ways = [
            build_row(name, one, comparison.bound_cents) for name, one in comparison.ways.items()
        ]
        screen.print_table(HEADINGS, ways)
        screen.say(
            f"  an order {costs.order_cents} cents · holding a unit for a day "
            f"{costs.holding_per_day:.1%} of its cost · a lost unit its margin"
        )
        screen.say(f"  no orders could have cost less than {comparison.bound_cents / 100:,.0f}")
        verdict = "reached" if reached else "NOT REACHED"
        screen.say(f"  {verdict}: fill rate {FILL_RATE_MIN:.0%}, cost {COST_MAX:.0%} of the bound")
    if not reached:
        raise typer.Exit(1)


def clean(seed: int) -> Parameters:
    """A world without dirt and fraud: the events equal what happened."""
    return Parameters(
        seed=seed,
        stores=STORES,
        products=PRODUCTS,
        receipts_per_minute=RECEIPTS_PER_MINUTE,
    )


def build_row(name: str, one: Score, bound_cents: float) -> tuple[str, ...]:
    return (
        name,
        f"{one.fill_rate:.1%}",
        f"{one.stock_units:,.0f}",
        f"{one.orders:,}",
        *[
            f"{cents / 100:,.0f}"
            for cents in (one.holding_cents, one.ordering_cents, one.lost_cents, one.cost_cents)
        ],
        f"{one.cost_cents / bound_cents:.0%}",
    )


def build_document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON: each way's figures, and the bound."""
    ways = {
        name: asdict(one) | {"fill_rate": one.fill_rate, "cost_cents": one.cost_cents}
        for name, one in comparison.ways.items()
    }
    return {"ways": ways, "bound_cents": comparison.bound_cents, "of_bound": comparison.of_bound}
