"""retail down and retail reset: stop everything and leave no process behind; remove the world."""

import shutil
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Annotated
from xmlrpc.client import Fault

import psutil
import typer

from infra.errors import UserError
from infra.folder import Folder
from infra.lake import locate_folders
from infra.settings import REMEMBERED_FILE, Settings, locate_root, read_settings
from infra.supervisor import daemon, orphans
from infra.supervisor.manager import Manager
from ops.cli import fleet, screen
from ops.cli.options import lock_home
from ops.generations.folders import locate_checkpoints
from pipelines.common.pipeline import list_pipelines

STOP_SECONDS_MAX = 9.0  # a little longer than the process manager gives each component
END_SECONDS_MAX = 3.0


def down() -> None:
    """Stop everything; the data stays, and `up` continues where it stopped."""
    settings = read_settings()
    if not settings.data_dir.exists():
        screen.say("Nothing runs.")
        return
    with lock_home(settings.data_dir):
        if not stop(settings):
            screen.say("Nothing runs.")


def stop(settings: Settings) -> bool:
    """Stop what runs on the data folder; returns whether anything ran."""
    manager = daemon.find_running(settings.data_dir)
    with screen.show_waiting("stopping", "") as wait:
        # It may die meanwhile; its processes are then found as orphans.
        with suppress(OSError, HTTPException, Fault, psutil.Error):
            if manager is not None:
                stop_in_order(settings, manager)
        left = orphans.stop(settings.data_dir)
    daemon.clear(settings.data_dir)
    if manager is not None:
        screen.step("stopped", ", ".join(reversed(fleet.list_names(settings))), wait.seconds)
    if left:
        screen.step("cleanup", f"{left} processes without a manager, stopped", wait.seconds)
    return manager is not None or left > 0


def stop_in_order(settings: Settings, manager: Manager) -> None:
    """Stop the broker last: the others still write to it when they stop."""
    broker = {"broker"}
    manager.stop(set(fleet.list_names(settings)) - broker, STOP_SECONDS_MAX)
    manager.stop(broker, STOP_SECONDS_MAX)
    process = psutil.Process(manager.read_pid())
    manager.shutdown()
    process.wait(END_SECONDS_MAX)


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
    named = ", ".join([str(folder), *map(str, beyond)])
    if not yes and not screen.ask(
        f"Remove {named}, with all topics, views and checkpoints?",
        "reset removes data and asks first. Without a terminal say: YES=1",
    ):
        screen.say("Nothing was removed.")
        return
    with lock_home(folder):
        stop(settings)
        for each in beyond:
            each.remove()
        shutil.rmtree(folder)
    screen.step("removed", ", ".join([screen.shorten(folder), *map(str, beyond)]))


def list_folders_elsewhere(settings: Settings) -> list[Folder]:
    """This world's folders at STORE_URL: another world would take them for its own."""
    if settings.store_url is None:
        return []
    kept = (locate_checkpoints(settings, name) for name in list_pipelines())
    return [folder for folder in (*locate_folders(settings).layers, *kept) if folder.list_names()]


def is_ours(folder: Path) -> bool:
    holds_more = any(place.is_relative_to(folder) for place in (locate_root(), Path.home()))
    return (folder / REMEMBERED_FILE).is_file() and not holds_more
