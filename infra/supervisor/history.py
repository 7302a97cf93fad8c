"""The restarts of the components since the manager's start, read from its log."""

import re
from dataclasses import dataclass

STARTED = "supervisord started with pid"
SPAWNED = re.compile(r"spawned: '(?P<name>[^']+)'")
EXITED = re.compile(r"exited: (?P<name>\S+) \((?P<how>[^;)]+); (?:not )?expected\)")


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
