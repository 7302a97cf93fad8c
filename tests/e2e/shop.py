"""A whole shop, started as a person starts it, with its own data and ports."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from infra.settings import Settings
from pipelines.common.offsets import newest
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


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
