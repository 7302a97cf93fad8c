"""retail reset: forget the world."""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.folder import Folder
from infra.lake import locate_folders
from infra.settings import REMEMBERED_FILE, Settings, locate_root, read_settings
from ops.cli import screen
from ops.cli.down import stop
from ops.cli.exclusive import lock_home
from ops.generations.folders import locate_checkpoints
from pipelines.common.pipeline import list_pipelines


class NotAsked(UserError):
    """There is no terminal for the question."""

    def __init__(self) -> None:
        super().__init__("reset removes data and asks first. Without a terminal say: YES=1")


def reset(
    yes: Annotated[bool, typer.Option("--yes", envvar="YES", help="Do not ask.")] = False,
) -> None:
    """Stop everything and remove the world's data, after a question; nothing else is removed."""
    settings = read_settings()
    folder = settings.data_dir
    if not folder.exists() or not any(folder.iterdir()):
        screen.say(f"{screen.shorten(folder)} is empty already.")
        return
    if not is_ours(folder):
        raise UserError(
            f"{folder} does not look like a data folder of this project: it should hold "
            f"{REMEMBERED_FILE}, and neither the repository nor your home. Remove it by hand if "
            "you are sure, or name the right one in DATA_DIR."
        )
    beyond = list_folders_elsewhere(settings)
    if not yes and not ask_consent(folder, beyond):
        screen.say("Nothing was removed.")
        return
    with lock_home(folder):
        stop(settings)
        for each in beyond:
            each.remove()
        shutil.rmtree(folder)
    screen.step("removed", ", ".join([screen.shorten(folder), *map(str, beyond)]))


def list_folders_elsewhere(settings: Settings) -> list[Folder]:
    """This world's folders where URLs name them: another world would take them for its own."""
    lake = locate_folders(settings).layers if settings.lake_url else ()
    kept = (
        locate_checkpoints(settings, name) for name in list_pipelines() if settings.checkpoint_url
    )
    return [folder for folder in (*lake, *kept) if folder.list_names()]


def is_ours(folder: Path) -> bool:
    holds_more = any(place.is_relative_to(folder) for place in (locate_root(), Path.home()))
    return (folder / REMEMBERED_FILE).is_file() and not holds_more


def ask_consent(folder: Path, beyond: Iterable[Folder]) -> bool:
    if not sys.stdin.isatty():
        raise NotAsked
    named = ", ".join([str(folder), *map(str, beyond)])
    return typer.confirm(f"Remove {named}, with all topics, views and checkpoints?")
