"""The shop in containers, run by docker compose."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.security.files import locate_security_folder
from infra.security.tokens import locate_token_folder
from infra.settings import HOST, Settings
from ops.bench.shops import CommandFailed, run_for_output
from tests.e2e.shop import Shop, create_world
from tests.ports import free_port_base

PASSED_ON = frozenset({"PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG", "JAVA_TOOL_OPTIONS"})
"""The environment that docker needs, and Java's options. Other variables would be settings."""

PLACES = {"data_dir", "jars_dir", "port_base", "kafka_bootstrap_servers"}
"""Settings that differ outside of the containers."""

LOG_LINES = 40
"""Log lines of each container in an error."""

KILLED = 128 + signal.SIGKILL
"""The exit status of a container that did not end by itself."""

STATES = {"healthy": "ready", "unhealthy": "failed"}


@dataclass(frozen=True)
class Composed(Shop):
    """A project of docker compose; the command line asks it from outside."""

    name: str
    nodes: tuple[Settings, ...]
    """Settings to reach each of its brokers and APIs; the first are the shop's own."""

    def start(self) -> None:
        """Raises CommandFailed with the containers' logs, when one is not ready."""
        try:
            self.compose("up", "--detach", "--wait")
        except CommandFailed as failed:
            raise CommandFailed(f"{failed}\n{self.read_logs()}") from failed

    def stop(self) -> None:
        """Raises AssertionError with the logs of those that were killed after their grace."""
        ran = {container["Name"] for container in self.containers()}
        self.compose("--profile", "*", "stop")
        ended = self.containers("--all")
        assert ran <= {container["Name"] for container in ended}
        stopped = [container for container in ended if container["Name"] in ran]
        killed = [container for container in stopped if container["ExitCode"] == KILLED]
        assert not killed, self.read_logs(*{container["Service"] for container in killed})
        self.compose("--profile", "*", "down")

    def read_logs(self, *services: str) -> str:
        """The newest lines of these services' containers, of all without a name."""
        tail = str(LOG_LINES)
        return self.compose("logs", "--no-color", "--timestamps", "--tail", tail, *services)

    def states(self) -> dict[str, str]:
        """By service, the worst state of its containers; stopped without any."""
        by_service = dict.fromkeys(self.compose("config", "--services").split(), "stopped")
        del by_service["topics"]  # a job that has ended well
        for container in self.containers():
            state = STATES.get(container["Health"], "starting")
            before = by_service.get(container["Service"], "stopped")
            by_service[container["Service"]] = state if before in ("stopped", "ready") else before
        return by_service

    def containers(self, *which: str) -> list[dict[str, Any]]:
        """docker compose's documents of the running containers; of these services, or --all."""
        listing = self.compose("ps", "--format", "json", *which)
        return [json.loads(line) for line in listing.splitlines()]

    def kill(self, container: str) -> None:
        """Kill as by `kill -9`; the container is not restarted."""
        run_for_output(["docker", "kill", container], keep_variables())

    def inspect(self) -> str:
        """What the engine knows of the containers: arguments and environments among it."""
        names = [container["Name"] for container in self.containers()]
        return run_for_output(["docker", "inspect", *names], keep_variables())

    def copy_keys(self) -> None:
        """Copy the keys and tokens of a secure shop, so that it can be asked from here."""
        home = self.settings.data_dir
        home.mkdir(parents=True)
        for folder in (locate_security_folder(self.settings), locate_token_folder(self.settings)):
            self.compose("cp", f"api:/data/{folder.name}", str(home))

    def compose(self, *arguments: str) -> str:
        """The output of docker compose; raises CommandFailed when it fails."""
        files = ["--env-file", ".env"]
        if len(self.nodes) > 1:
            files += ["--env-file", "infra/cluster.env"]
        command = ["docker", "compose", "--project-name", self.name, *files, *arguments]
        return run_for_output(
            command, {**keep_variables(), **render_variables(self.settings, self.nodes)}
        )


def keep_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in PASSED_ON}


def render_variables(settings: Settings, nodes: tuple[Settings, ...]) -> dict[str, str]:
    """The settings as variables of docker-compose.yml."""
    chosen = settings.model_dump(mode="json", exclude_defaults=True, exclude=PLACES)
    ports = {}
    for number, node in enumerate(nodes, 1):
        suffix = "" if number == 1 else f"_{number}"
        ports[f"PORT_BASE{suffix}"] = str(node.port_base)
        ports[f"BROKER_PORT{suffix}"] = str(node.broker_port)
    return {**{name.upper(): str(value) for name, value in chosen.items()}, **ports}


@contextmanager
def composed(
    folder: Path, seed: int, pipelines: str = "inventory,fraud", nodes: int = 1, **others: Any
) -> Iterator[Composed]:
    """A running shop in containers, in the world of this seed; it is removed afterwards.

    With three nodes it is the cluster. `others`: settings that differ from the defaults.
    """
    settings = create_world(folder, seed, pipelines).model_copy(update=others)
    bases = [settings.port_base, *(free_port_base() for _ in range(nodes - 1))]
    brokers = [f"{HOST}:{Settings(port_base=base).broker_port}" for base in bases]
    reached = settings.model_copy(update={"kafka_bootstrap_servers": ",".join(brokers)})
    each = tuple(reached.model_copy(update={"port_base": base}) for base in bases)
    shop = Composed(reached, f"retail-test-{settings.port_base}", each)
    try:
        shop.start()
        yield shop
    finally:
        shop.compose("--profile", "*", "down", "--volumes", "--timeout", "2")
