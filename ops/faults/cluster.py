"""A cluster in containers, by `make up-docker PROFILE=cluster`, and the loss of any one part."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from infra.errors import UserError
from infra.processes import capture
from infra.settings import HOST, Settings
from ops.faults.actions import require
from ops.faults.fault import Fault, Promise, Scene

PROJECT = "COMPOSE_PROJECT_NAME"
DEFAULT_PROJECT = "retail"
"""The name in docker-compose.yml, unless the variable PROJECT gives another one."""
DOCKER = "docker"
COMMAND_SECONDS_MAX = 60.0
LABEL = "com.docker.compose"
SHARED = ("SIMULATOR_", "WORLD")
"""The beginnings of the variables that say in the containers which world it is."""

SERVED = Promise("views go on; records are published", True, 180, 240)
OTHER_API = Promise("the other APIs answer, as before", True, 60, 180)
OTHER_SUPPLIER = Promise("the other supplier answers", True, 60, 180)
OTHER_WORKER = Promise("the other worker works", True, 180, 240)
LOSSES = {
    **dict.fromkeys(("broker", "broker-2", "broker-3"), SERVED),
    **dict.fromkeys(("api-2", "api-3"), OTHER_API),
    **dict.fromkeys(("supplier-1", "supplier-2"), OTHER_SUPPLIER),
    **dict.fromkeys(("spark-worker-1", "spark-worker-2"), OTHER_WORKER),
}
"""What is promised when a part is lost that there is twice or more."""


class NoCluster(UserError):
    """There is no running cluster to do faults in."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"Faults in a cluster need one that runs in containers, but {why}. Start it: "
            f"make up-docker PROFILE=cluster. A project of another name: {PROJECT}"
        )


@dataclass(frozen=True)
class Container:
    """A container of the cluster, running or not."""

    name: str
    service: str
    number: int
    """Which of the service's containers, from 1."""
    pid: int
    """0: it does not run."""
    ports: tuple[int, ...]
    """The published ports, on this machine."""
    environment: Mapping[str, str]

    @classmethod
    def parse(cls, inspected: Mapping[str, Any]) -> "Container":
        """From what `docker inspect` says."""
        config = inspected["Config"]
        labels = config["Labels"]
        published = (inspected["NetworkSettings"]["Ports"] or {}).values()
        return cls(
            name=inspected["Name"].removeprefix("/"),
            service=labels[f"{LABEL}.service"],
            number=int(labels[f"{LABEL}.container-number"]),
            pid=inspected["State"]["Pid"],
            ports=tuple(
                sorted({int(port["HostPort"]) for ports in published for port in ports or ()})
            ),
            environment=dict(text.split("=", 1) for text in config["Env"] if "=" in text),
        )


def refuse_elsewhere() -> None:
    """Raise NoCluster unless several brokers run, and no lake, which is out of reach."""
    running = find_parts()
    if sum(part.startswith("broker") for part in running) < 2:
        raise NoCluster("fewer than two brokers run")
    if "lake" in running:
        raise NoCluster("this one has a lake, whose archive cannot be audited from outside")


def find_parts() -> Mapping[str, int]:
    """The ids of the containers' processes, by part. Raises NoCluster."""
    return {part: container.pid for part, container in list_containers().items() if container.pid}


def find_project() -> str:
    """The name of the project that docker compose would take here, too."""
    return os.environ.get(PROJECT) or DEFAULT_PROJECT


def list_containers() -> dict[str, Container]:
    """Every container by its part, running or not. Raises NoCluster."""
    label = f"label={LABEL}.project={find_project()}"
    ids = run_docker("ps", "--all", "--quiet", "--filter", label).split()
    if not ids:
        raise NoCluster(f"the project {find_project()} has no containers")
    return name_parts([*map(Container.parse, json.loads(run_docker("inspect", *ids)))])


def name_parts(containers: Sequence[Container]) -> dict[str, Container]:
    """By part: the service, followed by a number where it has several containers."""
    counts = Counter(container.service for container in containers)
    parts = {}
    for container in containers:
        alone = counts[container.service] == 1
        number = "" if alone else f"-{container.number}"
        parts[f"{container.service}{number}"] = container
    return parts


def run_docker(*arguments: str) -> str:
    """What the command prints. Raises NoCluster."""
    try:
        done = capture([DOCKER, *arguments], COMMAND_SECONDS_MAX, Path.cwd())
    except FileNotFoundError as error:
        raise NoCluster("there is no docker") from error
    except subprocess.TimeoutExpired as error:
        raise NoCluster(
            f"docker {arguments[0]} gave no answer in {COMMAND_SECONDS_MAX:g} s"
        ) from error
    if done.returncode:
        said = done.stderr.strip().rstrip("?.")
        raise NoCluster(f"docker {arguments[0]} says: {said}")
    return done.stdout


def derive_settings(settings: Settings, found: Mapping[str, Container]) -> Settings:
    """The settings by which this machine reaches the cluster. Raises NoCluster."""
    brokers = [
        port
        for part, container in found.items()
        if part.startswith("broker")
        for port in container.ports
    ]
    api = found.get("api")
    if not brokers or api is None or not api.ports:
        raise NoCluster("it publishes no port of a broker or of the API")
    environment = api.environment
    world = {
        name.lower(): value
        for name, value in environment.items()
        if name.startswith(SHARED) and value and name.lower() in Settings.model_fields
    }
    return Settings.model_validate(
        {
            **settings.model_dump(exclude_unset=True),
            **world,
            "pipelines": environment.get("PIPELINES") or settings.pipelines,
            "port_base": min(api.ports),
            "kafka_bootstrap_servers": ",".join(f"{HOST}:{port}" for port in brokers),
        }
    )


def list_losses(pipelines: Sequence[str]) -> Iterator[Fault]:
    """The loss of each part that there is twice or more, and of each pipeline's driver."""
    drivers = {
        part: Promise(f"views of {part} are served as they are; the others go on", True, 240, 300)
        for part in pipelines
    }
    for part, promise in (LOSSES | drivers).items():
        yield Fault(
            name=f"lose-{part}",
            does=f"kill -9 of {part}, which comes back after --seconds",
            promise=promise,
            refusal=require(part),
            do=lose_part(part),
            ends=frozenset({part}),
        )


def lose_part(part: str) -> Callable[[Scene], str]:
    def do(scene: Scene) -> str:
        name = list_containers()[part].name
        run_docker("kill", name)
        try:
            Event().wait(scene.pause_seconds)
        finally:
            run_docker("start", name)
        return f"killed {part}, which was away for {scene.pause_seconds:g} s"

    return do
