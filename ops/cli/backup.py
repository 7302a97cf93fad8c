"""retail backup make | restore: a running shop at one moment, and a shop made of it again."""

from pathlib import Path
from typing import Annotated

import typer

from contracts.times import to_instant
from infra.erasures import locate_erasures
from infra.settings import Settings, read_settings
from ops.backup import making
from ops.backup.manifest import Manifest
from ops.cli import screen
from ops.cli.options import lock_home

app = typer.Typer(no_args_is_help=True)


@app.command()
def make(
    target: Annotated[Path, typer.Argument(metavar="TO", help="An empty folder, or none yet.")],
) -> None:
    """Copy the running shop at one moment; it pauses while the last changes are copied."""
    settings = read_settings()
    with (
        lock_home(settings.data_dir, "backing up"),
        screen.show_waiting("backup", "copying the log and the checkpoints") as wait,
    ):
        made = making.make_backup(settings, target)
    screen.step("backup", screen.shorten(target.resolve()), wait.seconds)
    show(made)
    screen.step("stood still", f"{made.paused_seconds:.2f} s")
    screen.step("make it again", f"retail backup restore {target}")


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="Made by retail backup make.")],
    erasures: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="The list of erasures, if it is not beside DATA_DIR."
        ),
    ] = None,
) -> None:
    """Make the data folder of a backup; `make up` then goes on where it was made."""
    settings = read_settings()
    with screen.show_waiting("restore", "copying and checking") as wait:
        made = making.restore(source, settings, erasures)
    screen.step("restored", screen.shorten(settings.data_dir), wait.seconds)
    show(made.manifest)
    if made.knows:
        show_erasures(settings, made)
    screen.step("start it", "make up")


def show_erasures(settings: Settings, made: making.Restored) -> None:
    """Say who is erased again, or that whoever was forgotten since is known again."""
    if made.erased is not None:
        screen.step(
            "erased again", f"{screen.count(made.erased, 'customer')} in the list of erasures"
        )
        return
    screen.say(
        f"  Whoever was forgotten after {render_moment(made.manifest)} is known again: there is no "
        f"{screen.shorten(locate_erasures(settings.data_dir))}. Erase each again: retail forget "
        "customer ID · or restore with the list of that shop: --erasures FILE"
    )


def render_moment(made: Manifest) -> str:
    return f"{to_instant(made.made_at_ms):%Y-%m-%d %H:%M:%S} UTC"


def show(made: Manifest) -> None:
    """Print the moment, and the position of each pipeline."""
    screen.step("as of", f"{render_moment(made)}, {len(made.files):,} files")
    for name, position in made.pipelines.items():
        batch = f"generation {position.generation} at batch {position.batch:,}"
        screen.step(name, f"{batch}, {position.records:,} records")
