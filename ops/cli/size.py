"""retail size: the cores, memory, partitions and disk that a shop of a given size needs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from infra.settings import read_settings
from ops.bench.coefficients import read_coefficients
from ops.bench.document import Machine
from ops.bench.receipts import LINES
from ops.bench.report import render_number
from ops.bench.size import Demand, Size, compute_size
from ops.cli import screen

WHAT_WIDTH, AMOUNT_WIDTH = 26, 14


def size(
    stores: Annotated[int, typer.Option(help="Stores.")] = 12,
    products: Annotated[int, typer.Option(help="Products; each store has a shelf of each.")] = 800,
    receipts_per_second: Annotated[
        float, typer.Option(help="Receipts per second of all stores, all the time.")
    ] = 20,
    lines_per_receipt: Annotated[
        float, typer.Option(help="Lines per receipt, on average.")
    ] = LINES,
    retention_days: Annotated[
        float, typer.Option(help="Days of receipts that the log keeps.")
    ] = 365,
    replay_hours: Annotated[
        float, typer.Option(help="Hours in which a replay should read all of them.")
    ] = 24,
    pipelines: Annotated[
        str | None,
        typer.Option(help="Pipelines, with commas between. Default: those of `make up`."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Compute what a shop of this size needs, from what the bench has measured."""
    demand = Demand(
        stores, products, receipts_per_second, lines_per_receipt, retention_days, replay_hours
    )
    costs, machine = read_coefficients()
    names = read_settings().pipeline_names if pipelines is None else pipelines.split(",")
    computed = compute_size(demand, costs, tuple(dict.fromkeys(names)))
    if as_json:
        print(json.dumps({"demand": asdict(demand), **asdict(computed)}))
        return
    for line in render_lines(computed, machine):
        screen.say(line)


def render_lines(computed: Size, machine: Machine) -> Iterator[str]:
    for need in computed.needs:
        yield render_row(need.what, f"{render_number(need.amount)} {need.unit}", need.formula)
        for term in need.terms:
            yield render_row(f"  {term.what}", render_number(term.amount), f"= {term.formula}")
    yield from (f"  Beyond this: {limit}." for limit in computed.limits)
    yield (
        f"  From `retail bench --only sizing` of {machine.measured_on}, {machine.cores} cores: "
        "docs/sizing.md"
    )


def render_row(what: str, amount: str, formula: str) -> str:
    return f"  {what:<{WHAT_WIDTH}}{amount:>{AMOUNT_WIDTH}}  {formula}"
