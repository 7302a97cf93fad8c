"""A client of the process manager of a data folder, and what its log says of restarts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Literal, cast
from xmlrpc.client import Fault, ServerProxy

from supervisor.xmlrpc import Faults, SupervisorTransport

from infra.wait import wait_for

State = Literal[
    "STOPPED", "STARTING", "RUNNING", "BACKOFF", "STOPPING", "EXITED", "FATAL", "UNKNOWN"
]
TRIED = frozenset({Faults.ALREADY_STARTED, Faults.SPAWN_ERROR})
"""Faults of a start after which the component's state says how it stands. SPAWN_ERROR: it ended
before the manager had answered, which tries again as it does with any component that ends early.
"""
AT_REST: frozenset[State] = frozenset({"STOPPED", "EXITED", "FATAL"})


STARTED = "supervisord started with pid"
SPAWNED = re.compile(r"spawned: '(?P<name>[^']+)'")
EXITED = re.compile(r"exited: (?P<name>\S+) \((?P<how>[^;)]+); (?:not )?expected\)")


@dataclass(frozen=True)
class Process:
    """A component's process, as the manager reports it."""

    name: str
    state: State
    pid: int  # 0: none
    started_at: int  # seconds since 1970, wall clock; 0: never
    up_seconds: int  # since it was last started; 0 unless it runs
    reason: str  # why it does not run, if the manager knows


class Manager:
    """A client of a process manager, over its socket."""

    def __init__(self, socket: str) -> None:
        # The address is a formality: the transport goes to the socket.
        proxy = ServerProxy(
            "http://127.0.0.1", transport=SupervisorTransport(serverurl=f"unix://{socket}")
        )
        self._rpc = proxy.supervisor

    def read_pid(self) -> int:
        return cast(int, self._rpc.getPID())

    def find_process(self, name: str) -> Process:
        return _parse_process(cast(dict[str, str | int], self._rpc.getProcessInfo(name)))

    def list_processes(self) -> dict[str, Process]:
        """Every component that the manager knows, by name."""
        infos = cast(list[dict[str, str | int]], self._rpc.getAllProcessInfo())
        return {process.name: process for process in map(_parse_process, infos)}

    def start(self, name: str) -> None:
        """Start the component, unless it is running. Whether it stays is for its state to say."""
        try:
            self._rpc.startProcess(name, False)
        except Fault as fault:
            if fault.faultCode not in TRIED:
                raise

    def stop(self, names: Iterable[str], seconds_max: float) -> None:
        """Stop the components in parallel; the manager kills each when its time is over."""
        wanted = set(names)
        for name in wanted:
            try:
                self._rpc.stopProcess(name, False)
            except Fault as fault:
                if fault.faultCode != Faults.NOT_RUNNING:
                    raise
        wait_for(
            lambda: all(
                process.state in AT_REST
                for name, process in self.list_processes().items()
                if name in wanted
            ),
            seconds_max,
        )

    def shutdown(self) -> None:
        """End the manager and every component that still runs."""
        self._rpc.shutdown()


def find_answering(socket: str) -> Manager | None:
    """The manager behind the socket, if one answers there."""
    manager = Manager(socket)
    try:
        manager.read_pid()
    except (OSError, HTTPException, Fault):
        return None
    return manager


def _parse_process(info: dict[str, str | int]) -> Process:
    running = info["statename"] in ("STARTING", "RUNNING", "STOPPING")
    return Process(
        name=str(info["name"]),
        state=cast(State, info["statename"]),
        pid=int(info["pid"]),
        started_at=int(info["start"]),
        up_seconds=max(0, int(info["now"]) - int(info["start"])) if running else 0,
        reason=str(info["spawnerr"]),
    )


@dataclass(frozen=True)
class Restarts:
    """The number of a component's restarts, and how it last ended."""

    count: int
    last: str  # "terminated by SIGKILL", "exit status 1"; empty if it never ended by itself


NONE = Restarts(0, "")


def read_restarts(log: str) -> dict[str, Restarts]:
    """The restarts by component, since the last start of the manager in the log."""
    lines = log[max(0, log.rfind(STARTED)) :].splitlines()
    ends: dict[str, list[str]] = {}
    again: dict[str, int] = {}
    for line in lines:
        if match := EXITED.search(line):
            ends.setdefault(match["name"], []).append(match["how"])
        elif (match := SPAWNED.search(line)) and match["name"] in ends:
            again[match["name"]] = again.get(match["name"], 0) + 1
    return {name: Restarts(again.get(name, 0), how[-1]) for name, how in ends.items()}
