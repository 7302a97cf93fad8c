"""retail down: stop everything, in order, and leave no process behind."""

from contextlib import suppress
from http.client import HTTPException
from xmlrpc.client import Fault

import psutil

from infra.settings import Settings, read_settings
from infra.supervisor import daemon, orphans
from infra.supervisor.manager import Manager
from ops.cli import aot, fleet, screen
from ops.cli.exclusive import lock_home

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
        was_training = aot.end_beside(settings)
    daemon.clear(settings.data_dir)
    if manager is not None:
        screen.step("stopped", ", ".join(reversed(fleet.list_names(settings))), wait.seconds)
    if left:
        screen.step("cleanup", f"{left} processes without a manager, stopped", wait.seconds)
    if was_training:
        screen.step("aot", "the training of Java's caches ended; `make up` begins it anew")
    return manager is not None or left > 0 or was_training


def stop_in_order(settings: Settings, manager: Manager) -> None:
    """Stop the broker last: the others still write to it when they stop."""
    broker = {"broker"}
    manager.stop(set(fleet.list_names(settings)) - broker, STOP_SECONDS_MAX)
    manager.stop(broker, STOP_SECONDS_MAX)
    process = psutil.Process(manager.read_pid())
    manager.shutdown()
    process.wait(END_SECONDS_MAX)
