"""A whole shop, started by the command line, and what its processes take while it is measured."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import Any

import psutil

from contracts import CONTRACTS, RECEIPTS
from infra.http import fetch_json
from infra.kafka import apply_topics, create_admin, is_answering, read_end_offsets
from infra.processes import build_environment, capture, start_module
from infra.settings import Settings, locate_root
from infra.supervisor import daemon
from infra.supervisor.manager import Process
from infra.wait import wait_until
from ops.generations.folders import find_checkpoint

COMMAND_SECONDS_MAX = 600
CAUGHT_UP_SECONDS_MAX = 900.0
ANSWER_SECONDS_MAX = 10.0
BROKER_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 30.0
LAG_RECORDS_MAX = 5_000

GB, MB = 1e9, 1e6


class CommandFailed(AssertionError):
    """A command failed."""


@dataclass(frozen=True)
class Shop:
    """The command line `retail` on one data folder."""

    settings: Settings

    def start(self) -> None:
        """Return when every part is ready."""
        self.run_retail("up", "--wait")

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
        shop.start()
        wait_until(
            lambda: max(read_lags(shop)) <= LAG_RECORDS_MAX,
            "the views are caught up",
            CAUGHT_UP_SECONDS_MAX,
        )
        yield shop
    finally:
        shop.stop()


def read_lags(shop: Shop) -> list[float]:
    """The lag of each pipeline in records, by the API; infinity while it has no row."""
    stands = [shop.get(f"/v1/pipelines/{name}") for name in shop.settings.pipeline_names]
    lags = [pipeline.get("lag_records") for pipeline in stands]
    return [inf if lag is None else lag for lag in lags]


@contextmanager
def run_broker(settings: Settings) -> Iterator[None]:
    """A broker alone, with every topic of the contracts, where a shop would disturb the figures."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    process = start_module(settings, settings.data_dir / "broker.log", "infra.broker")
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", BROKER_SECONDS_MAX)
        apply_topics(settings, CONTRACTS)
        yield
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)


def count_receipts(settings: Settings) -> int:
    """The receipts in the log, with copies."""
    return sum(read_end_offsets(create_admin(settings), [RECEIPTS.name]).values())


def find_newest_batches(settings: Settings) -> dict[str, int]:
    """The number of the newest batch of each pipeline's first generation."""
    return {
        name: find_checkpoint(settings, name, 1).find_newest_begun()
        for name in settings.pipeline_names
    }


def count_bytes(process: psutil.Process) -> int:
    """Resident bytes; shared pages count by their share, where the system reports it."""
    with suppress(psutil.NoSuchProcess):
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    return 0


def measure_cpu(java: psutil.Process) -> dict[int, float]:
    """CPU seconds of the process and those below it so far, by process id."""
    seconds: dict[int, float] = {}
    for process in [java, *java.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # a worker that was idle for a minute ends
            times = process.cpu_times()
            seconds[process.pid] = times.user + times.system
    return seconds


def measure_cpu_since(before: Mapping[int, float], java: psutil.Process) -> float:
    """CPU seconds since then, of the processes that are still there."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in measure_cpu(java).items())


def let_time_pass(seconds: float) -> None:
    """Wait while what is measured runs."""
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= until, "time passes", seconds + 30)
