"""The questions of the checks to the machine, and the machine's answers."""

import importlib.util
import os
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from infra import java
from infra.settings import HOST
from infra.supervisor import orphans


@dataclass(frozen=True)
class Holder:
    """A process that listens on a port; pid 0: another user's, which this user cannot see."""

    name: str
    pid: int
    ours: bool  # one of this data folder's own components


class Probes(Protocol):
    """The questions; tests give their own answers."""

    def read_python_version(self) -> tuple[int, int, int]: ...

    def has_module(self, name: str) -> bool: ...

    def has_command(self, name: str) -> bool: ...

    def can_start_java(self) -> bool: ...

    def measure_memory_bytes(self) -> int: ...

    def measure_free_disk_bytes(self, folder: Path) -> int: ...

    def is_writable(self, folder: Path) -> bool: ...

    def find_holder(self, port: int) -> Holder | None:
        """The process that listens on the port; None if it is free."""


class Machine:
    """The answers of this machine."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def read_python_version(self) -> tuple[int, int, int]:
        return sys.version_info[:3]

    def has_module(self, name: str) -> bool:
        return importlib.util.find_spec(name) is not None

    def has_command(self, name: str) -> bool:
        return shutil.which(name) is not None

    def can_start_java(self) -> bool:
        return java.can_start()

    def measure_memory_bytes(self) -> int:
        return psutil.virtual_memory().available

    def measure_free_disk_bytes(self, folder: Path) -> int:
        return shutil.disk_usage(_find_existing(folder)).free

    def is_writable(self, folder: Path) -> bool:
        return os.access(_find_existing(folder), os.W_OK | os.X_OK)

    def find_holder(self, port: int) -> Holder | None:
        if _free(port):
            return None
        pid = _find_listeners().get(port)
        if pid is not None:
            process = psutil.Process(pid)
            return Holder(process.name(), pid, orphans.is_of_folder(process, self._home))
        return Holder("another user's process", 0, ours=False)


def _find_existing(folder: Path) -> Path:
    """The folder, or its nearest parent that exists."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port with only old connections in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _find_listeners() -> dict[int, int]:
    """The id of the listening process, by port, as far as this user may see it."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return {}
    return {
        connection.laddr.port: connection.pid
        for connection in connections
        if connection.laddr and connection.pid and connection.status == psutil.CONN_LISTEN
    }
