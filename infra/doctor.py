"""Checks of the machine before anything starts: one for each cause by which a start can fail.

Each says what to do. That there is a Python with its modules, the environment has shown.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from infra import java
from infra.ports import free
from infra.settings import Settings
from infra.supervisor import orphans

GIB = 1024**3
MEMORY_MIN_BYTES = 5 * GIB  # Spark 1.8, the lake 1.1, broker 0.3, the rest 0.7, and some room
DISK_MIN_BYTES = 2 * GIB  # an hour of the default pace, with its checkpoints
PORT_STEP = 100


@dataclass(frozen=True)
class Finding:
    """The result of a check. With a remedy, a start needs the remedy first."""

    check: str
    found: str
    remedy: str = ""
    ours: bool = False  # the port's holder is a component of this folder

    @property
    def good(self) -> bool:
        return not self.remedy

    def __str__(self) -> str:
        return f"{self.found}. {self.remedy}" if self.remedy else self.found


@dataclass(frozen=True)
class Holder:
    """A process that listens on a port; pid 0: another user's, which this user cannot see."""

    name: str
    pid: int
    ours: bool  # one of this data folder's own components


def run_checks(settings: Settings) -> Iterator[Finding]:
    """Run every check, in the order in which a start would fail on them."""
    folder, refill = settings.data_dir, settings.refill
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    disk_bytes, memory_bytes = shutil.disk_usage(existing).free, psutil.virtual_memory().available
    starts, may_write = java.can_start(), os.access(existing, os.W_OK | os.X_OK)
    yield judge(
        "java",
        starts,
        f"Java {java.VERSION}{'' if starts else ', which does not start'}",
        f"It should run on this machine. What it says: {java.locate_java()} -version",
    )
    yield judge(
        "data folder",
        may_write,
        f"{folder} {'can' if may_write else 'cannot'} be written",
        "Make it writable, or choose another: make up DATA_DIR=…",
    )
    yield judge(
        "disk",
        disk_bytes >= DISK_MIN_BYTES,
        f"{disk_bytes / GIB:.1f} GiB free disk",
        f"{DISK_MIN_BYTES // GIB} GiB are needed where {folder} is. Make room, or choose another "
        "folder: make up DATA_DIR=…",
    )
    yield judge(
        "refill",
        refill == "vans" or "reorder" in settings.pipeline_names,
        f"shelves filled by {refill}, with the pipelines {settings.pipelines}",
        f"Nobody proposes orders. Add who does: PIPELINES={settings.pipelines},reorder",
    )
    wanted = {"api": settings.api_port}
    if settings.broker_embedded:
        wanted |= {"broker": settings.broker_port, "controller": settings.controller_port}
    listening = [check_port(settings, use, port) for use, port in wanted.items()]
    yield judge(
        "memory",
        memory_bytes >= MEMORY_MIN_BYTES or any(finding.ours for finding in listening),
        f"{memory_bytes / GIB:.1f} GiB free memory",
        f"{MEMORY_MIN_BYTES // GIB} GiB are needed for the broker and Spark. Close something "
        "large, or give the machine more",
    )
    yield from listening


def judge(check: str, good: bool, found: str, remedy: str) -> Finding:
    return Finding(check, found, "" if good else remedy)


def check_port(settings: Settings, use: str, port: int) -> Finding:
    check = f"port {port}"
    holder = find_holder(settings.data_dir, port)
    if holder is None:
        return Finding(check, f"free, for the {use}")
    if holder.ours:
        return Finding(check, f"in use by the {use} of this folder (pid {holder.pid})", ours=True)
    who = f"{holder.name} (pid {holder.pid})" if holder.pid else holder.name
    return Finding(
        check,
        f"Port {port} is in use by {who}",
        f"Stop it, or choose others: make up PORT_BASE={find_free_base(settings)}",
    )


def find_free_base(settings: Settings) -> int:
    """The next PORT_BASE whose ports are all free now."""
    for base in range(settings.port_base + PORT_STEP, 60_000, PORT_STEP):
        moved = settings.model_copy(update={"port_base": base})
        if all(map(free, (base, moved.broker_port, moved.controller_port))):
            return base
    return settings.port_base + PORT_STEP


def find_holder(home: Path, port: int) -> Holder | None:
    """The process that listens on the port; `home`: the data folder of our own components."""
    if free(port):
        return None
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        connections = []
    for connection in connections:
        if not connection.laddr or connection.status != psutil.CONN_LISTEN:
            continue
        if connection.laddr.port == port and connection.pid:
            process = psutil.Process(connection.pid)
            return Holder(process.name(), connection.pid, orphans.is_of_folder(process, home))
    return Holder("another user's process", 0, ours=False)
