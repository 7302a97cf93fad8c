"""The processes of a shop on this machine: finds, kills, pauses and restarts them."""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event

import psutil

from infra.errors import UserError
from infra.processes import find_engines
from infra.settings import Settings
from infra.supervisor import COMPONENTS, daemon

PIPELINES = "pipelines"
WORKER = "worker"
ENGINE = "engine"
PARTS = (*COMPONENTS, WORKER, ENGINE)
"""Every process that a shop may have, by name: the components, and below `pipelines` the Python
process that runs the generations and the Java process of its Spark."""

STOP_SECONDS_MAX = 20.0


class NotLocal(UserError):
    """The shop, or a part of it, does not run on this machine under its process manager."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This is done to a shop that `make up` has started on this machine, but {why}."
        )


def refuse_elsewhere(settings: Settings) -> None:
    """Raise NotLocal unless the whole shop runs on this machine under its process manager."""
    if not settings.broker_embedded:
        raise NotLocal(f"its Kafka is {settings.bootstrap_servers}: KAFKA_BOOTSTRAP_SERVERS")
    if settings.broker_voters is not None:
        raise NotLocal("its broker is one of several: BROKER_VOTERS")
    if settings.api_address is not None:
        raise NotLocal(f"its API is {settings.api_address}: API_ADDRESS")
    if not settings.spark_master.startswith("local"):
        raise NotLocal(f"its Spark is {settings.spark_master}: SPARK_MASTER")
    if daemon.find_running(settings.data_dir) is None:
        raise NotLocal(f"nothing runs on {settings.data_dir}. Start it: make up")


def find_parts(settings: Settings) -> dict[str, int]:
    """The ids of the running processes, by name; empty if nothing runs."""
    manager = daemon.find_running(settings.data_dir)
    if manager is None:
        return {}
    parts = {name: process.pid for name, process in manager.list_processes().items() if process.pid}
    for engine in find_engines(parts[PIPELINES]) if PIPELINES in parts else ():
        with suppress(psutil.NoSuchProcess):
            if (worker := engine.parent()) is not None:
                return {**parts, WORKER: worker.pid, ENGINE: engine.pid}
    return parts


def kill(pid: int) -> None:
    """Kill the process, as a crash would. Raises ProcessLookupError if it has ended."""
    os.kill(pid, signal.SIGKILL)


def pause(pid: int, seconds: float) -> None:
    """Suspend the process for so long. Raises psutil.NoSuchProcess if it has ended."""
    with pause_process(pid):
        Event().wait(seconds)


@contextmanager
def pause_process(pid: int) -> Iterator[None]:
    """Suspend the process in the block; it resumes however this process ends.

    A shell holds the other end of a pipe from this process. The kernel closes the pipe when this
    process ends, and the shell then resumes the suspended process.
    """
    process = psutil.Process(pid)
    resume = f"read -r _; kill -s CONT {shlex.quote(str(pid))}"
    guard = subprocess.Popen(
        ["/bin/sh", "-c", resume],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches this process only
    )
    try:
        process.suspend()
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            process.resume()
        assert guard.stdin is not None, "it was given a pipe"
        guard.stdin.close()
        guard.wait(STOP_SECONDS_MAX)


@contextmanager
def stop_component(settings: Settings, component: str) -> Iterator[None]:
    """Stop the component gracefully in the block, then start it again. Raises NotLocal."""
    manager = daemon.find_running(settings.data_dir)
    if manager is None:
        raise NotLocal(f"nothing runs on {settings.data_dir}. Start it: make up")
    manager.stop([component], STOP_SECONDS_MAX)
    try:
        yield
    finally:
        manager.start(component)


def restart_component(settings: Settings, component: str) -> None:
    """Stop the component gracefully, and start it again. Raises NotLocal."""
    with stop_component(settings, component):
        pass
