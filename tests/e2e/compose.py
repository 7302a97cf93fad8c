"""The same shop in containers, as docker compose runs it."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.shops import CommandFailed, output
from infra.settings import HOST, Settings
from tests.e2e.shop import Shop, create_world
from tests.ports import free_port_base

PASSED_ON = frozenset({"PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG", "JAVA_TOOL_OPTIONS"})
"""What docker itself needs of the environment, and Java's options; the rest would be settings."""

PLACES = {"data_dir", "jars_dir", "port_base", "kafka_bootstrap_servers"}
"""Settings that are otherwise on this side of the containers."""

LOG_LINES = 40
"""Of each container, where something went wrong."""

KILLED = 128 + signal.SIGKILL
"""The exit status of a container that did not end by itself."""

STATES = {"healthy": "ready", "unhealthy": "failed"}


@dataclass(frozen=True)
class Composed(Shop):
    """A project of docker compose; the command line asks it from outside."""

    name: str
    nodes: tuple[Settings, ...]
    """How to ask each of its brokers and APIs; the first one's are the shop's own."""

    def start(self) -> None:
        """Raises CommandFailed with what the containers have said, when one is not ready."""
        try:
            self.compose("up", "--detach", "--wait")
        except CommandFailed as failed:
            lines = self.compose("logs", "--no-color", "--tail", str(LOG_LINES))
            raise CommandFailed(f"{failed}\n{lines}") from failed

    def stop(self) -> None:
        """Raises AssertionError naming what had to be killed, when its time of grace was over."""
        ran = {one["Name"] for one in self.containers()}
        self.compose("--profile", "*", "stop")
        ended = self.containers("--all")
        assert ran <= {one["Name"] for one in ended}
        killed = {one["Name"] for one in ended if one["ExitCode"] == KILLED} & ran
        assert not killed, f"killed: {', '.join(sorted(killed))}"
        self.compose("--profile", "*", "down")

    def states(self) -> dict[str, str]:
        """By service, as the least of its containers is; one that has none is stopped."""
        by_service = dict.fromkeys(self.compose("config", "--services").split(), "stopped")
        del by_service["topics"]  # which has done its work
        for one in self.containers():
            state = STATES.get(one["Health"], "starting")
            before = by_service.get(one["Service"], "stopped")
            by_service[one["Service"]] = state if before in ("stopped", "ready") else before
        return by_service

    def containers(self, *which: str) -> list[dict[str, Any]]:
        """The containers that run, as docker compose tells of them; of these services, or --all."""
        listing = self.compose("ps", "--format", "json", *which)
        return [json.loads(line) for line in listing.splitlines()]

    def kill(self, container: str) -> None:
        """As by `kill -9`; nobody starts it again by itself."""
        output(["docker", "kill", container], keep_variables())

    def compose(self, *arguments: str) -> str:
        """What docker compose prints; raises CommandFailed when it fails."""
        files = ["--env-file", ".env"]
        if len(self.nodes) > 1:
            files += ["--env-file", "cluster.env"]
        command = ["docker", "compose", "--project-name", self.name, *files, *arguments]
        return output(command, {**keep_variables(), **render_variables(self.settings, self.nodes)})


def keep_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in PASSED_ON}


def render_variables(settings: Settings, nodes: tuple[Settings, ...]) -> dict[str, str]:
    """The settings as docker-compose.yml takes them."""
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
    """A running shop in containers, in the world of this seed; nothing of it is left behind.

    With three nodes it is the cluster. Others: settings that are to be otherwise.
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
