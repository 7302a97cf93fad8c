"""The same shop in containers, as docker compose runs it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.settings import HOST, Settings
from tests.e2e.shop import Shop, printed, world

PASSED_ON = frozenset({"PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG"})
"""What docker itself needs of the environment; the rest would be settings."""


@dataclass(frozen=True)
class Composed(Shop):
    """A project of docker compose; the command line asks it from outside."""

    name: str

    def start(self) -> None:
        self.compose("up", "--detach", "--wait")

    def stop(self) -> None:
        self.compose("down")

    def states(self) -> dict[str, str]:
        """By service; one that has no container is stopped."""
        known = self.compose("config", "--services").split()
        running = self.compose("ps", "--services").split()
        return {name: "running" if name in running else "stopped" for name in known}

    def compose(self, *arguments: str) -> str:
        """What docker compose prints; raises CommandFailed when it fails."""
        command = ["docker", "compose", "--project-name", self.name, *arguments]
        return printed(command, {**kept(), **asked(self.where)})


def kept() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in PASSED_ON}


def asked(where: Settings) -> dict[str, str]:
    """The settings as docker-compose.yml takes them."""
    ports = {"PORT_BASE": str(where.port_base), "BROKER_PORT": str(where.broker_port)}
    chosen = where.model_dump(mode="json", exclude_defaults=True, exclude={"data_dir"})
    own = {name.upper(): str(value) for name, value in chosen.items()}
    return {**own, **ports}


@contextmanager
def composed(folder: Path, seed: int, pipelines: str = "inventory,fraud") -> Iterator[Shop]:
    """A running shop in containers, in the world of this seed; nothing of it is left behind."""
    where = world(folder, seed, pipelines)
    broker = {"kafka_bootstrap_servers": f"{HOST}:{where.broker_port}"}
    shop = Composed(where.model_copy(update=broker), f"retail-test-{where.port_base}")
    try:
        shop.start()
        yield shop
    finally:
        shop.compose("down", "--volumes")
