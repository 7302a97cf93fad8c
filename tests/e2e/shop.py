"""A whole shop, started as a person starts it, with its own data and ports."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from contracts import RECEIPTS
from contracts.judging import LATE
from infra.cli import fleet
from infra.settings import Settings, root
from infra.supervisor import daemon
from pipelines.common.checkpoint import Checkpoint
from pipelines.common.generation import checkpoint
from tests.oracle.ledger import DIRT
from tests.ports import free_port_base
from tests.processes import engines, environment
from tests.waiting import wait_until

COMMAND_SECONDS_MAX = 600
GROWTH_SECONDS_MAX = 400
BOOKED = ("applied", "duplicate", "quarantined")
EVERY = str(Settings.model_fields["pipelines"].default)


class CommandFailed(AssertionError):
    """A command of the command line did not do what it should."""


@dataclass(frozen=True)
class Shop:
    """The command line `retail` on one data folder."""

    where: Settings

    def start(self) -> None:
        """Return when every part is ready."""
        self.retail("up")

    def stop(self) -> None:
        self.retail("down")

    def retail(self, *arguments: str) -> str:
        """What the command prints; raises CommandFailed when it fails."""
        command = [sys.executable, "-m", "infra.cli.main", *arguments]
        return printed(command, environment(self.where))

    def verify(self) -> dict[str, Any]:
        """What `retail verify` says of each pipeline, by name; raises unless all are exact."""
        found = json.loads(self.retail("verify", "--json"))
        assert found["exact"]
        assert found["pipelines"].keys() == set(self.where.pipeline_names)
        return dict(found["pipelines"])

    def verify_grown(self) -> dict[str, Any]:
        """The same, once the world holds every kind of dirt and every view has rows."""
        found: dict[str, Any] = {}

        def grown() -> bool:
            found.update(self.verify())
            dirt = found["inventory"]["ledger"]
            rows = [view["rows"] for one in found.values() for view in one["views"].values()]
            counts = [one["books"][kind] for one in found.values() for kind in BOOKED]
            return all([*(dirt[kind] for kind in DIRT), *rows, *counts])

        self.too_late()  # until then it need not be asked
        wait_until(grown, "every kind of dirt, and rows in every view", GROWTH_SECONDS_MAX)
        return found

    def too_late(self) -> dict[str, Any]:
        """A receipt that came beyond the horizon, once there is one, as the quarantine lists it."""
        late = f"/v1/quarantine?topic={RECEIPTS.name}&reason={LATE}&limit=1"
        found: list[dict[str, Any]] = []

        def there() -> bool:
            with suppress(OSError):  # as long as the API is down
                found.extend(self.get(late)["items"])
            return bool(found)

        wait_until(there, "a receipt is too late", GROWTH_SECONDS_MAX)
        return found[0]

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.where.api_url}{path}", timeout=10) as answer:
            return json.load(answer)

    def states(self) -> dict[str, str]:
        """What `retail status` says of each component, by name."""
        return {one.name: one.state for one in fleet.components(self.where)}

    def pid(self, component: str) -> int:
        """Of the component's process; raises LookupError while it has none."""
        manager = daemon.running(self.where.data_dir)
        pid = manager.process(component).pid if manager else 0
        if not pid:
            raise LookupError(f"{component} should run, but does not")
        return pid

    def driver_pid(self) -> int:
        """The Python process that runs the generations."""
        driver = self._engine().parent()
        assert driver is not None, "an engine is started by its driver"
        return driver.pid

    def java_pid(self) -> int:
        """The Spark of the pipelines."""
        return self._engine().pid

    def _engine(self) -> psutil.Process:
        """Raises LookupError while there is none."""
        return engines(self.pid("pipelines"))[0]

    @property
    def checkpoint(self) -> Checkpoint:
        """Of the inventory."""
        return checkpoint(self.where, "inventory", 1)

    def ready(self) -> bool:
        return set(self.states().values()) == {"ready"}


@contextmanager
def opened(folder: Path, seed: int, pipelines: str = EVERY, **others: Any) -> Iterator[Shop]:
    """A running shop in the world of this seed, fast and dirty, with these pipelines.

    Others: settings that are to be otherwise.
    """
    shop = Shop(world(folder, seed, pipelines).model_copy(update=others))
    try:
        shop.start()
        yield shop
    finally:
        shop.stop()


def world(folder: Path, seed: int, pipelines: str) -> Settings:
    """Settings of a fast and dirty world."""
    print(f"SIMULATOR_SEED={seed}")
    return Settings(
        data_dir=folder / "data",
        port_base=free_port_base(),
        simulator_seed=seed,
        pipelines=pipelines,
        pipeline_seconds_per_batch_min=5,  # the cores are shared with other tests
        simulator_speed=60,  # two hours, the horizon, pass in two minutes
        simulator_stores=6,
        simulator_products=400,
        simulator_receipts_per_second=5,  # at the default speed: 30/s at this one
        simulator_late_rate=0.05,
        simulator_duplicate_rate=0.05,
        simulator_beyond_horizon_rate=0.02,
        simulator_future_rate=0.01,
        simulator_malformed_rate=0.01,
        simulator_unknown_schema_rate=0.01,
        simulator_broken_rule_rate=0.01,
        simulator_fraud_rate=0.005,
        simulator_look_alike_rate=0.005,
    )


def printed(command: list[str], environment: dict[str, str]) -> str:
    """What the command prints; raises CommandFailed when it fails."""
    done = subprocess.run(
        command,
        cwd=root(),
        env=environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
