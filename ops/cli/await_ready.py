"""Waiting for components, each with a time limit. A failure shows the end of its log."""

from http.client import HTTPException
from pathlib import Path

from infra.errors import UserError
from infra.logs import tail
from infra.settings import Settings
from infra.supervisor.manager import Manager, Process
from infra.wait import wait_for
from ops.cli import screen
from ops.cli.ready import find_readiness

READY_SECONDS_MAX = {
    "broker": 60,
    "simulator": 90,
    "clock": 90,
    "quarantine": 90,
    "pipelines": 240,
    "ordering": 90,
    "supplier": 90,
    "subscriptions": 90,
    "api": 240,
    "lake": 240,
}
POLL_SECONDS = 0.3
# Given up by the process manager, ended for good, or stopped by another command.
HOPELESS = frozenset({"FATAL", "EXITED", "STOPPED", "STOPPING"})


class Stopped(UserError):
    """The process manager ended during the wait."""

    def __init__(self) -> None:
        super().__init__("Another command has stopped everything. Start it again: make up")


class NotReady(UserError):
    """A component that did not become ready."""

    def __init__(self, process: Process, seconds: float, log: Path) -> None:
        lines = tail(log).replace("\n", "\n  ")
        why = f"{process.state} {process.reason}".strip()
        super().__init__(
            f"{process.name} is not ready after {seconds:.0f} s, its process is {why}. "
            f"The end of {screen.shorten(log)}:\n  {lines}\n"
            f"More: make logs COMPONENT={process.name} · everything else goes on: make status · "
            "stop it: make down"
        )


def await_all(settings: Settings, manager: Manager, names: tuple[str, ...]) -> None:
    """Wait for all in parallel; print each, in order, as it becomes ready; raises NotReady."""
    ready: dict[str, tuple[str, float]] = {}
    printed: list[str] = []

    def look() -> bool:
        for name in names:
            if name not in ready and (text := examine(settings, manager, name, wait.seconds)):
                ready[name] = text, wait.seconds
        for name in names[len(printed) :]:
            if name not in ready:
                wait.show(name, "starting")
                return False
            screen.step(name, *ready[name])
            printed.append(name)
        return True

    with screen.show_waiting(names[0], "starting") as wait:
        # Each component's limit is shorter, and its error names the component.
        longest = max(READY_SECONDS_MAX[name] for name in names)
        wait_for(look, 2 * longest, POLL_SECONDS)


def examine(settings: Settings, manager: Manager, name: str, seconds: float) -> str | None:
    """The component's report of readiness; None: not yet. Raises NotReady when it has failed."""
    try:
        process = manager.find_process(name)
    except (OSError, HTTPException) as error:
        raise Stopped from error
    if process.state in ("STARTING", "RUNNING"):
        text = find_readiness(settings, name, process.started_at)
        if text is not None:
            return text
    if process.state in HOPELESS or seconds > READY_SECONDS_MAX[name]:
        raise NotReady(process, seconds, settings.logs_dir / f"{name}.log")
    return None
