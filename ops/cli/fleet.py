"""The components of a data folder: which there are, the state of each, and waiting for them."""

from dataclasses import dataclass
from http.client import HTTPException

from confluent_kafka import KafkaException

from infra.errors import UserError
from infra.kafka import UnknownTopic, is_answering
from infra.logs import tail
from infra.settings import PIPELINES, Settings
from infra.supervisor import COMPONENTS, daemon
from infra.supervisor.manager import NONE, Manager, Process, Restarts, read_restarts
from infra.wait import wait_for
from ops.cli import screen
from ops.cli.health import PAUSED, PROBE_SECONDS_MAX, PROBES
from ops.cli.ready import find_readiness, read_fresh_markers

HISTORY_LINES_MAX = 1_000
ORDERS = frozenset({"ordering", "supplier"})
"""The components that run only where shelves are filled by orders."""
PRICING = "pricing"
"""The pipeline whose proposals the gate of markdowns waits for."""
STATES = {
    "RUNNING": "starting",  # its process runs; readiness is its own report
    "STARTING": "starting",
    "BACKOFF": "restarting",
    "FATAL": "failed",
    "EXITED": "failed",  # in a way that a restart would not mend
    "STOPPING": "stopping",
}
ALIVE = ("RUNNING", "STARTING")
HOPELESS = frozenset({"FATAL", "EXITED", "STOPPED", "STOPPING"})
"""Given up by the process manager, ended for good, or stopped by another command."""
READY_SECONDS_MAX = {"broker": 60, "pipelines": 240, "api": 240, "lake": 240}
READY_SECONDS_MAX_OF_OTHERS = 90
POLL_SECONDS = 0.3


@dataclass(frozen=True)
class Component:
    """One row of the table that `retail status` prints."""

    name: str
    state: str  # ready, paused, starting, restarting, failed, stopping, stopped
    detail: str
    pid: int
    up_seconds: int
    restarts: int
    last_end: str
    address: str
    log: str


def list_names(settings: Settings) -> tuple[str, ...]:
    """The components that run on this machine, in the order of their start."""
    left_out = set() if settings.broker_embedded else {"broker"}
    left_out.add("clock" if settings.is_simulated else "simulator")
    if not settings.is_simulated or settings.refill != "orders":
        left_out |= ORDERS
    if PRICING not in settings.pipeline_names:
        left_out.add("markdowns")
    if not settings.lake:
        left_out.add("lake")
    return tuple(name for name in COMPONENTS if name not in left_out)


def list_components(settings: Settings) -> list[Component]:
    """The present state of every component.

    Where Kafka does not answer, components that report their readiness through it are not asked:
    each question would take ten seconds.
    """
    manager = daemon.find_running(settings.data_dir)
    processes = manager.list_processes() if manager else {}
    reaches_kafka = any(process.state in ALIVE for process in processes.values()) and is_answering(
        settings, PROBE_SECONDS_MAX
    )
    history = read_restarts(tail(settings.logs_dir / "supervisord.log", HISTORY_LINES_MAX))
    return [
        describe_component(
            settings,
            name,
            processes.get(name),
            history.get(name, NONE),
            may_ask=reaches_kafka or name in PROBES,
        )
        for name in list_names(settings)
    ]


def describe_component(
    settings: Settings, name: str, process: Process | None, history: Restarts, may_ask: bool
) -> Component:
    alive = process is not None and process.state in ALIVE
    asked = process if alive and may_ask else None
    ready = find_readiness(settings, name, asked.started_at) if asked else None
    state = STATES.get(process.state, "stopped") if process else "stopped"
    if ready:
        state = "paused" if ready.startswith(PAUSED) else "ready"
    starting = list_starting_pipelines(settings, asked) if asked and not ready else ""
    addresses = {"broker": settings.bootstrap_servers, "api": settings.api_url}
    return Component(
        name=name,
        state=state,
        detail=ready or starting or (process.reason if process and not alive else ""),
        pid=process.pid if process else 0,
        up_seconds=process.up_seconds if process else 0,
        restarts=history.count if process else 0,
        last_end=history.last if process else "",
        address=addresses.get(name, ""),
        log=str(settings.logs_dir / f"{name}.log"),
    )


def list_starting_pipelines(settings: Settings, process: Process) -> str:
    """The pipelines that have written no marker since the start of the process; empty for others
    than the pipelines, and while Kafka does not say.
    """
    if process.name != PIPELINES:
        return ""
    try:
        markers = read_fresh_markers(settings, process.started_at)
    except (KafkaException, UnknownTopic, TimeoutError):
        return ""
    return " · ".join(name for name, marker in markers.items() if marker is None)


def await_all(settings: Settings, manager: Manager, names: tuple[str, ...]) -> None:
    """Wait for all in parallel; print each, in order, as it becomes ready.

    Raises UserError with the end of its log for a component that has failed or takes too long.
    """
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
        wait_for(look, 2 * max(map(get_ready_seconds_max, names)), POLL_SECONDS)


def get_ready_seconds_max(name: str) -> int:
    return READY_SECONDS_MAX.get(name, READY_SECONDS_MAX_OF_OTHERS)


def examine(settings: Settings, manager: Manager, name: str, seconds: float) -> str | None:
    """The component's report of readiness; None: not yet. Raises UserError when it has failed."""
    try:
        process = manager.find_process(name)
    except (OSError, HTTPException) as error:
        raise UserError(
            "Another command has stopped everything. Start it again: make up"
        ) from error
    if process.state in ALIVE:
        text = find_readiness(settings, name, process.started_at)
        if text is not None:
            return text
    if process.state not in HOPELESS and seconds <= get_ready_seconds_max(name):
        return None
    log = settings.logs_dir / f"{name}.log"
    lines = tail(log).replace("\n", "\n  ")
    why = f"{process.state} {process.reason}".strip()
    raise UserError(
        f"{name} is not ready after {seconds:.0f} s, its process is {why}. "
        f"The end of {screen.shorten(log)}:\n  {lines}\n"
        f"More: make logs COMPONENT={name} · everything else goes on: make status · "
        "stop it: make down"
    )
