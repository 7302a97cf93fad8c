"""retail reset: forget the world."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from infra.cli import screen
from infra.cli.alone import alone
from infra.cli.down import stop
from infra.errors import Trouble
from infra.settings import REMEMBERED_FILE, root, settings


class NotOurs(Trouble):
    """A folder that no start of this project has made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} does not look like a data folder of this project: it should hold "
            f"{REMEMBERED_FILE}, and neither the repository nor your home. Remove it by hand if "
            "you are sure, or name the right one in DATA_DIR."
        )


class NotAsked(Trouble):
    """Nobody is there to be asked."""

    def __init__(self) -> None:
        super().__init__("reset removes data and asks first. Without a terminal say: YES=1")


def reset(
    yes: Annotated[bool, typer.Option("--yes", envvar="YES", help="Do not ask.")] = False,
) -> None:
    """Stop everything and remove the data folder, after asking; nothing else is touched."""
    current = settings()
    folder = current.data_dir
    if not folder.exists() or not any(folder.iterdir()):
        screen.say(f"{screen.short(folder)} is empty already.")
        return
    if not ours(folder):
        raise NotOurs(folder)
    if not yes and not agreed(folder):
        screen.say("Nothing was removed.")
        return
    with alone(folder):
        stop(current)
        shutil.rmtree(folder)
    screen.step("removed", screen.short(folder))


def ours(folder: Path) -> bool:
    holds_more = any(place.is_relative_to(folder) for place in (root(), Path.home()))
    return (folder / REMEMBERED_FILE).is_file() and not holds_more


def agreed(folder: Path) -> bool:
    if not sys.stdin.isatty():
        raise NotAsked
    return typer.confirm(f"Remove {folder}, with all topics, views and checkpoints?")
