"""A whole shop, started as a person starts it, with its own data and ports."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from infra.settings import Settings
from pipelines.common.offsets import newest
from tests.ports import free_port_base
from tests.processes import environment

COMMAND_SECONDS_MAX = 240


class CommandFailed(AssertionError):
    """A command of the command line did not do what it should."""


@dataclass(frozen=True)
class Shop:
    """The command line `retail` on one data folder."""

    where: Settings

    def retail(self, *arguments: str) -> str:
        """What the command prints; raises CommandFailed when it fails."""
        done = subprocess.run(
            [sys.executable, "-m", "infra.cli.main", *arguments],
            env=environment(self.where),
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS_MAX,
            check=False,
        )
        if done.returncode != 0:
            raise CommandFailed(f"retail {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def verify(self) -> dict[str, Any]:
        """The verdict of `retail verify inventory`, which raises unless it is exact."""
        return dict(json.loads(self.retail("verify", "inventory", "--json")))

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.where.api_url}{path}", timeout=10) as answer:
            return json.load(answer)

    def components(self) -> dict[str, dict[str, Any]]:
        found = json.loads(self.retail("status", "--json"))["components"]
        return {component["name"]: component for component in found}

    def pid(self, component: str) -> int:
        return int(self.components()[component]["pid"])

    def java_pid(self) -> int:
        """The Spark of the inventory pipeline."""
        children = psutil.Process(self.pid("inventory")).children()
        return next(child.pid for child in children if "java" in child.name())

    @property
    def checkpoint(self) -> Path:
        return self.where.data_dir / "pipelines" / "inventory" / "g1" / "checkpoint"

    def open_batch(self) -> int:
        """The number of the batch that runs now; -1 when none does."""
        begun, finished = self.newest_batch(), newest(self.checkpoint / "commits")
        return begun if begun > finished else -1

    def newest_batch(self) -> int:
        """The number of the last batch begun; -1 before the first."""
        return newest(self.checkpoint / "offsets")

    def ready(self) -> bool:
        return all(component["state"] == "ready" for component in self.components().values())


@contextmanager
def opened(folder: Path, seed: int) -> Iterator[Shop]:
    """A running shop in the world of this seed, fast and dirty."""
    print(f"SIMULATOR_SEED={seed}")
    shop = Shop(
        Settings(
            data_dir=folder / "data",
            port_base=free_port_base(),
            simulator_seed=seed,
            simulator_speed=300,  # two hours, the horizon, pass in 24 seconds
            simulator_stores=6,
            simulator_products=400,
            simulator_receipts_per_second=5,  # at the default speed: 150/s at this one
            simulator_late_rate=0.05,
            simulator_duplicate_rate=0.05,
            simulator_beyond_horizon_rate=0.02,
            simulator_future_rate=0.01,
            simulator_malformed_rate=0.01,
            simulator_unknown_schema_rate=0.01,
            simulator_broken_rule_rate=0.01,
        )
    )
    try:
        shop.retail("up")
        yield shop
    finally:
        shop.retail("down")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
