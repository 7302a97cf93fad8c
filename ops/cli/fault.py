"""retail fault list | run: faults on demand, in a shop that runs on this machine."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.reports import locate_reports
from infra.settings import Settings, read_settings
from ops.bench.figures import describe_machine
from ops.cli import screen
from ops.cli.options import lock_home
from ops.faults import document
from ops.faults import run as faults
from ops.faults.catalog import FAULTS, NOT_COVERED
from ops.faults.cluster import list_losses
from ops.faults.fault import Fault, Outcome
from ops.faults.run import Shop, Tell

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_command() -> None:
    """Every fault, what it does, and what a shop promises under it."""
    show_faults(FAULTS.values())
    screen.say("\n  In a cluster of containers, with --cluster:")
    show_faults(list_losses(read_settings().pipeline_names))
    screen.say("\n  Not among them:")
    for name, why in NOT_COVERED.items():
        screen.say(f"  {name}: {why}")


def show_faults(faults: Iterable[Fault]) -> None:
    for fault in faults:
        screen.say(f"  {fault.name}: {fault.does}")
        screen.say(f"      promise: {fault.promise}")


@app.command("run")
def run_command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…")] = None,
    every: Annotated[bool, typer.Option("--all", help="Each that is possible here.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Drawn ones, the same for the same seed.", min=0)
    ] = None,
    minutes: Annotated[
        float, typer.Option(help="How long drawn ones go on.", min=0.1, max=faults.MINUTES_MAX)
    ] = 10.0,
    seconds: Annotated[
        float, typer.Option(help="How long a pause lasts.", min=1.0, max=faults.PAUSE_SECONDS_MAX)
    ] = faults.PAUSE_SECONDS,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="In containers: make up-docker PROFILE=cluster.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    report: Annotated[Path | None, typer.Option(help="Where to write the outcomes.")] = None,
) -> None:
    """Do faults in the shop that runs here; each ends with what `verify` says."""
    settings = read_settings()
    if sum((bool(names), every, seed is not None)) != 1:
        raise UserError(
            "Which faults? Name some of `retail fault list`, or all that are possible by --all, "
            "or let them be drawn by --seed N --minutes M."
        )
    shop = faults.find_cluster(settings) if cluster else faults.find_local_shop(settings)
    for name in names or ():
        faults.find(shop.faults, name)
    possible = faults.list_possible(shop, seconds)
    not_done = {name: why for name, why in possible.items() if why is not None}
    chosen = list(names or (name for name in possible if name not in not_done))
    describe(shop, chosen, seed, minutes)
    if not yes and not screen.ask(
        "Do it?", "These faults are done in a running shop. Without a terminal to ask on say: --yes"
    ):
        screen.say("Nothing was done.")
        return
    doing = (
        partial(faults.run_named, shop, chosen, seconds)
        if seed is None
        else partial(faults.run_drawn, shop, seed, minutes, seconds)
    )
    file = report or locate_reports(shop.settings) / "faults.md"
    with lock_home(settings.data_dir, "doing faults in"):
        outcomes = do_all(doing, partial(keep, shop, not_done, file))
    if any(outcome.broken for outcome in outcomes):
        raise typer.Exit(1)


def describe(shop: Shop, names: Sequence[str], seed: int | None, minutes: float) -> None:
    """Print the faults to do, and the shop."""
    screen.say(f"  in {shop.name}")
    if seed is not None:
        screen.say(f"  for {minutes:g} minutes, drawn by seed {seed} of: {', '.join(names)}")
        return
    show_faults(shop.faults[name] for name in names)


def do_all(
    doing: Callable[[Tell], Iterator[Outcome]], kept: Callable[[Sequence[Outcome]], None]
) -> list[Outcome]:
    """Show and keep each outcome and its broken promises, also after an interruption."""
    outcomes: list[Outcome] = []
    try:
        with screen.show_waiting("fault", "") as wait:
            for outcome in doing(wait.show):
                outcomes.append(outcome)
                kept(outcomes)
                screen.step(outcome.fault, outcome.done)
                for why in outcome.broken:
                    screen.say(f"    not kept: {why}")
    finally:
        if outcomes:
            screen.say("")
            screen.print_table(document.HEADS, map(document.render_row, outcomes))
    return outcomes


def keep(shop: Shop, not_done: Mapping[str, str], file: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes so far as a page."""
    done = {outcome.fault for outcome in outcomes}
    others = [name for name in shop.faults if name not in done]
    left = dict.fromkeys(others, "not asked for in this run") | dict(not_done)
    command = shlex.join(["retail", *(word for word in sys.argv[1:] if word != "--yes")])
    world = describe_shop(shop.settings)
    page = document.render_page(outcomes, left, describe_machine(), world, command)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{page.rstrip()}\n", encoding="utf-8")


def describe_shop(settings: Settings) -> str:
    world = (
        f"{settings.simulator_receipts_per_second:g} receipts a second in "
        f"{settings.simulator_stores} stores, shelves filled by {settings.refill}"
        if settings.is_simulated
        else "an own world"
    )
    return f"{world}; pipelines {', '.join(settings.pipeline_names)}"
