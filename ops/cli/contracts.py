"""retail contracts: the consumers that a change breaks, before its release."""

import json
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from contracts import loader
from contracts.errors import BadContract
from contracts.evolution.check import check
from contracts.evolution.new import create_contract
from contracts.evolution.release import release
from infra.clock import get_today
from infra.errors import UserError
from ops.cli import report, screen
from ops.cli.cluster import apply_command, plan_command
from ops.cli.http import http_command

app = typer.Typer(
    no_args_is_help=True, help="The contracts: who reads what, and whom a change breaks."
)
app.command("plan")(plan_command)
app.command("apply")(apply_command)
app.command("http")(http_command)

Folder = Annotated[Path, typer.Option(help="The folder of contracts.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
HERE = Path(loader.__file__).parent


class Kind(Enum):
    TOPIC = "topic"
    VIEW = "view"
    WINDOW = "window"


@app.command("check")
def check_command(folder: Folder = HERE, as_json: AsJson = False) -> None:
    """Check every contract against its released versions and its consumers; needs no broker."""
    checked = check(folder.resolve(), get_today())
    if as_json:
        print(json.dumps(report.build_document(checked)))
    else:
        report.show(checked)
    if not checked.good:
        raise typer.Exit(1)


@app.command("release")
def release_command(folder: Folder = HERE) -> None:
    """Release the contracts as they are, as versions that stay for ever; refused while anything
    breaks.
    """
    checked, done = release(folder.resolve(), get_today())
    if not checked.good:
        report.show(checked)
        screen.say("  Nothing is released until all of that is fixed.")
        raise typer.Exit(1)
    for one in done:
        screen.step(one.version, f"{one.contract}{f', after {one.released}' * bool(one.released)}")
    screen.say(f"  {len(done)} released. Commit contracts/released and the schema lock with them.")


@app.command("new")
def new_command(
    name: Annotated[str, typer.Argument(help="As public.sales.exchange.v1.")],
    kind: Annotated[
        Kind, typer.Option(help="Events, a table, or a table of windows.")
    ] = Kind.TOPIC,
    sunset: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Of a v2: until when v1 is kept up."),
    ] = None,
    folder: Folder = HERE,
) -> None:
    """Write a contract that loads: a first version, or the next major one beside the last."""
    ends: date | None = sunset.date() if sunset else None
    try:
        files = create_contract(folder.resolve(), name, kind.value, ends)
    except BadContract as bad:
        raise UserError(str(bad)) from bad
    for file in files:
        screen.step("written", screen.shorten(file))
    screen.say(
        "  Next: say in it what a record means; name it in contracts/consumers where it is\n"
        "  written and read; then retail contracts check · retail contracts release"
    )
