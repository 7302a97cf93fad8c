"""retail contracts: the consumers that a change breaks, before its release; the topics.

What loads the contracts is imported within functions: `check` runs while one is bad.
"""

import json
from datetime import datetime
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
from infra.settings import read_settings
from ops.cli import contract_report, screen
from ops.cli.options import AsJson

app = typer.Typer(no_args_is_help=True)

Folder = Annotated[Path, typer.Option(help="The folder of contracts.")]
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
        print(json.dumps(contract_report.build_document(checked)))
    else:
        contract_report.show(checked)
    if not checked.good:
        raise typer.Exit(1)


@app.command("release")
def release_command(folder: Folder = HERE) -> None:
    """Release the contracts as they are, as versions that stay for ever; refused while anything
    breaks.
    """
    checked, done = release(folder.resolve(), get_today())
    if not checked.good:
        contract_report.show(checked)
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
    ends = sunset.date() if sunset else None
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


@app.command("plan")
def plan_command() -> None:
    """Name the topics that are missing; changes nothing."""
    from ops.cli.topics import list_missing

    missing = list_missing(read_settings())
    screen.say(f"  missing: {', '.join(missing)}" if missing else "  every topic is there")
    if missing:
        raise typer.Exit(1)


@app.command("apply")
def apply_command() -> None:
    """Make the missing topics, and in a secure shop set who may do what."""
    from ops.cli.topics import apply, grant

    settings = read_settings()
    screen.step("topics", apply(settings))
    if settings.secure:
        screen.step("access", grant(settings))


@app.command("http")
def http_command(
    write: Annotated[
        bool, typer.Option("--write", help="Write the document as the routes are now.")
    ] = False,
) -> None:
    """Compare the API's routes with the committed OpenAPI document."""
    # Not above: its import needs an id of every schema, which `release` of this group assigns.
    from services.api import openapi

    now = openapi.render()
    if now == openapi.read_committed():
        screen.say(f"  {len(now['paths'])} paths, as committed")
    elif write:
        openapi.write(now)
        screen.say(f"  {len(now['paths'])} paths written to {screen.shorten(openapi.FILE)}")
    else:
        screen.say(
            "  The routes are not as committed. What clients use stays, or a path of its own\n"
            "  serves the new shape beside it. Write them: retail contracts http --write"
        )
        raise typer.Exit(1)
