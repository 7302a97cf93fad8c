"""retail backfill: the world's first days, published at full speed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from contracts.times import to_instant
from generators.run import Progress
from generators.simulator import collect_garbage_rarely, simulate
from generators.stopping import catch_stop
from infra.settings import Settings, load_remembered, read_settings
from infra.supervisor import daemon
from infra.supervisor.manager import AT_REST, Manager
from ops.cli import screen, up
from ops.cli.down import STOP_SECONDS_MAX, stop
from ops.cli.fleet import await_all
from ops.cli.options import lock_home

SIMULATOR = "simulator"


def backfill(
    days: Annotated[int, typer.Argument(min=1, help="Days of history that the world shall have.")],
) -> None:
    """Publish the world's first days at full speed; it continues where it stopped, also after
    Ctrl-C.

    Running components keep running; only the simulator pauses. Where nothing runs, a broker runs
    meanwhile. A world that begins so is refilled by vans.
    """
    if not load_remembered(Settings().data_dir):
        os.environ.setdefault("SIMULATOR_REFILL", "vans")  # nobody answers orders at full speed
    settings = read_settings()
    with lock_home(settings.data_dir):
        running = daemon.find_running(settings.data_dir) is not None
        if not running:
            up.check(settings)
            up.fetch_jars(settings)
        manager = up.ensure_manager(settings)
        try:
            up.start_broker(settings, manager)
            with rest_simulator(settings, manager):
                publish(settings, days)
        finally:
            if not running:
                stop(settings)


@contextmanager
def rest_simulator(settings: Settings, manager: Manager) -> Iterator[None]:
    """The simulator stopped until the block ends, and started again if it ran."""
    ran = manager.find_process(SIMULATOR).state not in AT_REST
    if ran:
        manager.stop({SIMULATOR}, STOP_SECONDS_MAX)
    try:
        yield
    finally:
        if ran:
            manager.start(SIMULATOR)
            await_all(settings, manager, (SIMULATOR,))


def publish(settings: Settings, days: int) -> None:
    collect_garbage_rarely()
    stop = catch_stop()
    progress = Progress(0, 0)
    with screen.show_waiting("backfill", "reading the world's state") as wait:

        def show(reported: Progress) -> None:
            nonlocal progress
            progress = reported
            bar = screen.render_bar(progress.days, days)
            wait.show("backfill", f"{bar} {render_progress(progress, wait.seconds)}")

        simulate(settings, stop, backfill_days=days, live=False, report=show)
    if stop.is_set():
        screen.step("interrupted", render_progress(progress, wait.seconds))
        screen.say(f"  Go on: retail backfill {days}")
        raise typer.Exit(screen.INTERRUPTED)
    screen.step("backfill", render_progress(progress, wait.seconds), wait.seconds)


def render_progress(progress: Progress, seconds: float) -> str:
    if not progress.records:
        return "nothing was missing"
    rate = progress.records / max(seconds, 0.001)
    world_time = to_instant(progress.world_ms)
    return f"{world_time:%Y-%m-%d %H:%M} · {progress.records:,} records · {rate:,.0f}/s"
