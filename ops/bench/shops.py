"""A whole shop, started by the command line, for as long as it is measured."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

from contracts import RECEIPTS
from infra.http import fetch_json
from infra.kafka import create_admin, read_end_offsets
from infra.processes import build_environment, capture
from infra.settings import DEFAULT_SPEED, Settings, locate_root
from infra.supervisor import daemon
from infra.supervisor.manager import Process
from infra.wait import wait_until

COMMAND_SECONDS_MAX = 600
CAUGHT_UP_SECONDS_MAX = 900.0
ANSWER_SECONDS_MAX = 10.0
LAG_RECORDS_MAX = 5_000

SPINE = "inventory"
"""The pipeline whose figures count, alone and beside the others."""

MORNING = 1.15
"""The world begins on a Monday at eight. An average hour sells this many times as much."""
MORNING_SPEED = 2.0
"""The speed of such a world. Its first hour takes half an hour, in which all is measured; the next
hour sells half as many receipts more."""


class CommandFailed(AssertionError):
    """A command failed."""


@dataclass(frozen=True)
class Shop:
    """The command line `retail` on one data folder."""

    settings: Settings

    def start(self) -> None:
        """Return when every part is ready."""
        self.run_retail("up")

    def stop(self) -> None:
        self.run_retail("down")

    def run_retail(self, *arguments: str) -> str:
        """Run a command and return what it prints; raises CommandFailed when it fails."""
        command = [sys.executable, "-m", "ops.cli.main", *arguments]
        return run_for_output(command, build_environment(self.settings))

    def get(self, path: str) -> Any:
        """The API's answer, from JSON; raises OSError when there is none."""
        return fetch_json(f"{self.settings.api_url}{path}", ANSWER_SECONDS_MAX, self.settings)

    def find_pid(self, component: str) -> int:
        """The process id of the component; raises LookupError while it has none."""
        found = self.list_processes().get(component)
        if found is None or not found.pid:
            raise LookupError(f"{component} should run, but does not")
        return found.pid

    def list_processes(self) -> dict[str, Process]:
        """The processes of the shop's components, by name; empty where nothing manages them."""
        manager = daemon.find_running(self.settings.data_dir)
        return manager.list_processes() if manager else {}


def run_for_output(command: list[str], environment: dict[str, str]) -> str:
    """What the command prints; raises CommandFailed when it fails."""
    done = capture(command, COMMAND_SECONDS_MAX, locate_root(), environment)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


@contextmanager
def run_shop(settings: Settings) -> Iterator[Shop]:
    """The shop, up and caught up with its log."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    shop = Shop(settings)
    try:
        shop.run_retail("up")
        wait_until(lambda: has_caught_up(shop), "the views are caught up", CAUGHT_UP_SECONDS_MAX)
        yield shop
    finally:
        shop.run_retail("down")


def has_caught_up(shop: Shop) -> bool:
    return max(read_lags(shop)) <= LAG_RECORDS_MAX


def read_lags(shop: Shop) -> list[float]:
    """The lag of each pipeline in records, by the API; infinity while it has no row."""
    stands = [shop.get(f"/v1/pipelines/{name}") for name in shop.settings.pipeline_names]
    known = [pipeline.get("lag_records") for pipeline in stands]
    return [inf if lag is None else lag for lag in known]


def list_pipeline_settings(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The settings with the inventory pipeline alone, and with all of `make up`; and a label."""
    yield "alone", settings.model_copy(update={"pipelines": SPINE})
    yield "with all", settings


def derive_settings(settings: Settings, name: str, receipts_per_second: float) -> Settings:
    """Settings of a new shop of that name with about this rate of receipts per wall second."""
    return settings.model_copy(
        update={
            "data_dir": settings.data_dir / name,
            "simulator_receipts_per_second": MORNING
            * receipts_per_second
            * DEFAULT_SPEED
            / MORNING_SPEED,
            "simulator_speed": MORNING_SPEED,
        }
    )


class ReceiptRate:
    """Receipts per second that were published since it was created."""

    def __init__(self, settings: Settings) -> None:
        self._admin = create_admin(settings)
        self._began, self._before = time.monotonic(), self._count()

    def __call__(self) -> float:
        return (self._count() - self._before) / (time.monotonic() - self._began)

    def _count(self) -> int:
        return sum(read_end_offsets(self._admin, [RECEIPTS.name]).values())
