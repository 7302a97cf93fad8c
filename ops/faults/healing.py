"""Whether a shop is well: every process runs, and answers cover the log up to a moment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xmlrpc.client import Fault as ManagerFault

import psutil
from confluent_kafka import KafkaException

from infra.errors import UserError
from infra.kafka import Offsets, create_admin, read_end_offsets
from infra.lake import locate_folders, read_coverage
from infra.settings import Settings
from ops.faults.watch import NO_ANSWER, Pipelines, fetch_pipelines
from ops.verify.log import is_archived
from ops.verify.served import parse_inputs
from ops.verify.verdict import count_records_behind
from services import liveness
from services.clock import get_wall_ms

WORLDS = frozenset({"simulator"})
"""The processes that make the log grow by themselves."""
SIGNS = frozenset({"ordering", "subscriptions", "supplier"})
"""The services that report nothing but their start."""

NOT_YET = (*NO_ANSWER, KafkaException, UserError, ManagerFault, psutil.Error)
"""The errors that a request may raise while a part is down."""


@dataclass(frozen=True)
class Aim:
    """The state that a shop has to reach to be well."""

    ends: Offsets
    """The end offsets of the topics that pipelines read."""
    parts: Mapping[str, int]
    """The parts that have to run, with their process ids before the fault."""
    ended: frozenset[str] = frozenset()
    """The parts among them that need another process than before."""
    since_ms: int = 0
    """The wall clock at the end of the fault, in epoch milliseconds."""


def take_aim(
    settings: Settings,
    parts: Mapping[str, int],
    ended: frozenset[str] = frozenset(),
    since_ms: int | None = None,
) -> Aim:
    """The aim at this moment, for the topics that the served pipelines read.

    Raises one of NOT_YET while the broker or the API is down.
    """
    topics = {topic for topic, _ in read_served(fetch_pipelines(settings))}
    ends = read_end_offsets(create_admin(settings), topics)
    return Aim(ends, parts, ended, get_wall_ms() if since_ms is None else since_ms)


def read_served(pipelines: Pipelines) -> Offsets:
    """The offsets below which every pipeline has counted the partitions that it reads."""
    served: dict[tuple[str, int], int] = {}
    for one in pipelines.values():
        for at, offset in parse_inputs(one["as_of"]).items():
            served[at] = min(offset, served.get(at, offset))
    return served


def find_lacking(
    settings: Settings, find_parts: Callable[[], Mapping[str, int]], aim: Aim
) -> str | None:
    """The first deviation, in words; None: all is well.

    `find_parts`: looks up the ids of the running processes, by name.
    """
    try:
        return (
            _find_missing_process(find_parts(), aim)
            or _find_missing_records(settings, aim)
            or _find_missing_growth(settings, aim)
            or _find_missing_signs(settings, aim)
        )
    except NOT_YET as error:
        return _describe(error)


class Patient:
    """A shop after a fault. It takes an aim as soon as that is possible, and waits for it."""

    def __init__(self, take: Callable[[], Aim], lacks: Callable[[Aim], str | None]) -> None:
        """`take` may raise one of NOT_YET; `lacks` says what the aim still lacks."""
        self.lacking = ""
        """What was lacking at the last check, in words."""
        self._take, self._lacks = take, lacks
        self._aim: Aim | None = None

    def is_well(self) -> bool:
        """Check once more."""
        try:
            self._aim = self._aim or self._take()
        except NOT_YET as error:
            self.lacking = _describe(error)
            return False
        self.lacking = self._lacks(self._aim) or ""
        return not self.lacking


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _find_missing_process(now: Mapping[str, int], aim: Aim) -> str | None:
    for part, before in aim.parts.items():
        if part not in now:
            return f"{part} does not run"
        if part in aim.ended and now[part] == before:
            return f"{part} has not ended"
    return None


def _find_missing_records(settings: Settings, aim: Aim) -> str | None:
    served = read_served(fetch_pipelines(settings))
    behind = sum(max(0, end - served.get(at, 0)) for at, end in aim.ends.items())
    if behind:
        return f"answers lack {behind:,} records"
    if behind := count_records_behind(settings, aim.ends):
        return f"the quarantine is {behind:,} records behind"
    if "lake" in aim.parts:
        covered = read_coverage(locate_folders(settings).bronze).ends
        wanted = {at: end for at, end in aim.ends.items() if is_archived(at[0])}
        if behind := sum(max(0, end - covered.get(at, 0)) for at, end in wanted.items()):
            return f"the lake lacks {behind:,} records"
    return None


def _find_missing_growth(settings: Settings, aim: Aim) -> str | None:
    if not WORLDS & aim.parts.keys():
        return None
    ends = read_end_offsets(create_admin(settings), {topic for topic, _ in aim.ends})
    if sum(ends.values()) <= sum(aim.ends.values()):
        return "the world stands still"
    return None


def _find_missing_signs(settings: Settings, aim: Aim) -> str | None:
    for service in sorted(SIGNS & aim.ended):
        if liveness.read_start_ms(settings, service) < aim.since_ms:
            return f"{service} has not reported its start"
    return None
