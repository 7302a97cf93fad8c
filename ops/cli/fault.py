"""retail fault list | run: faults on demand, in a shop that runs on this machine."""

from collections.abc import Iterable
from random import Random
from typing import Annotated

import typer

from infra.errors import UserError
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.options import lock_home
from ops.faults import run as faults
from ops.faults.catalog import FAULTS
from ops.faults.fault import Outcome

app = typer.Typer(no_args_is_help=True)

HEADS = ("fault", "promise", "lasted", "healed after", "oldest answer", "no answer", "exact")


@app.command("list")
def list_command() -> None:
    """Every fault, what it does, and what a shop promises under it."""
    show_faults(FAULTS)


def show_faults(names: Iterable[str]) -> None:
    for name in names:
        screen.say(f"  {name}: {FAULTS[name].does}")
        screen.say(f"      promise: {FAULTS[name].promise}")


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
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Do faults in the shop that runs here; each ends with what `verify` says."""
    settings = read_settings()
    if sum((bool(names), every, seed is not None)) != 1:
        raise UserError(
            "Which faults? Name some of `retail fault list`, or all that are possible by --all, "
            "or let them be drawn by --seed N --minutes M."
        )
    for name in names or ():
        faults.find(name)
    possible = faults.list_possible(settings, seconds)
    not_done = {name: why for name, why in possible.items() if why is not None}
    chosen = list(names or (name for name in possible if name not in not_done))
    screen.say(f"  in the shop on {settings.data_dir}")
    if seed is None:
        show_faults(chosen)
    else:
        screen.say(f"  for {minutes:g} minutes, drawn by seed {seed} of: {', '.join(chosen)}")
    if not names:
        for name, why in not_done.items():
            screen.say(f"  without {name}: {why}")
    if not yes and not screen.ask(
        "Do it?", "These faults are done in a running shop. Without a terminal to ask on say: --yes"
    ):
        screen.say("Nothing was done.")
        return
    with lock_home(settings.data_dir, "doing faults in"):
        order = (
            [(name, number) for number, name in enumerate(chosen)]
            if seed is None
            else faults.draw(seed, chosen, minutes)
        )
        outcomes = do_all(settings, order, seconds)
    if any(outcome.broken for outcome in outcomes):
        raise typer.Exit(1)


def do_all(settings: Settings, order: Iterable[tuple[str, int]], seconds: float) -> list[Outcome]:
    """Do these faults, each with the seed of its draws. Show each outcome and its broken promises,
    also after an interruption.
    """
    outcomes: list[Outcome] = []
    try:
        with screen.show_waiting("fault", "") as wait:
            for name, number in order:
                outcome = faults.run(
                    settings, faults.find(name), seconds, Random(number), wait.show
                )
                outcomes.append(outcome)
                screen.step(outcome.fault, outcome.done)
                for why in outcome.broken:
                    screen.say(f"    not kept: {why}")
    finally:
        if outcomes:
            screen.say("")
            screen.print_table(HEADS, map(render_row, outcomes))
    return outcomes


def render_row(outcome: Outcome) -> tuple[str, ...]:
    """The cells under HEADS; durations in seconds."""
    promise = outcome.promise
    answered = ", answered" if promise.answered else ""
    return (
        outcome.fault,
        f"healed {promise.healed_seconds_max:g} s, stale {promise.stale_seconds_max:g} s{answered}",
        f"{outcome.lasted:.1f} s",
        "not in time" if outcome.healed is None else f"{outcome.healed:.1f} s",
        f"{outcome.stale:.1f} s",
        f"{outcome.unanswered:.1f} s" if outcome.unanswered else "",
        render_exact(outcome),
    )


def render_exact(outcome: Outcome) -> str:
    wrong = [each.pipeline for each in outcome.checked if not each.exact]
    if not outcome.exact:
        return f"NOT EXACT: {', '.join(wrong)}"
    return "BROKEN, exact" if outcome.broken else "exact"
