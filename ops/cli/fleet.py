"""The components of a data folder, and the state of each."""

from dataclasses import asdict, dataclass

from infra.kafka import is_answering
from infra.logs import tail
from infra.settings import Settings
from infra.supervisor import COMPONENTS, daemon
from infra.supervisor.manager import NONE, Process, Restarts, read_restarts
from ops.cli.health import PAUSED, PROBE_SECONDS_MAX, PROBES
from ops.cli.ready import find_readiness

HISTORY_LINES_MAX = 1_000
ORDERS = frozenset({"ordering", "supplier"})
"""The components that run only where shelves are filled by orders."""
STATES = {
    "RUNNING": "starting",  # its process runs; readiness is its own report
    "STARTING": "starting",
    "BACKOFF": "restarting",
    "FATAL": "failed",
    "EXITED": "failed",  # in a way that a restart would not mend
    "STOPPING": "stopping",
}


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

    def to_json(self) -> dict[str, str | int]:
        return asdict(self)


def list_names(settings: Settings) -> tuple[str, ...]:
    """The components that run on this machine, in the order of their start."""
    left_out = set() if settings.broker_embedded else {"broker"}
    left_out.add("clock" if settings.world == "simulated" else "simulator")
    if settings.world == "own" or settings.simulator_refill != "orders":
        left_out |= ORDERS
    if not settings.subscription_hosts:
        left_out.add("subscriptions")
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
    reaches_kafka = any(map(is_alive, processes.values())) and is_answering(
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
    settings: Settings,
    name: str,
    process: Process | None,
    history: Restarts,
    may_ask: bool,
) -> Component:
    alive = process is not None and is_alive(process)
    asked = process if alive and may_ask else None
    ready = find_readiness(settings, name, asked.started_at) if asked else None
    state = STATES.get(process.state, "stopped") if process else "stopped"
    if ready:
        state = "paused" if ready.startswith(PAUSED) else "ready"
    return Component(
        name=name,
        state=state,
        detail=ready or (process.reason if process and not alive else ""),
        pid=process.pid if process else 0,
        up_seconds=process.up_seconds if process else 0,
        restarts=history.count if process else 0,
        last_end=history.last if process else "",
        address=find_address(settings, name),
        log=str(settings.logs_dir / f"{name}.log"),
    )


def is_alive(process: Process) -> bool:
    return process.state in ("RUNNING", "STARTING")


def find_address(settings: Settings, name: str) -> str:
    """The address that the component listens on; empty where it listens on none."""
    return {"broker": settings.bootstrap_servers, "api": settings.api_url}.get(name, "")
