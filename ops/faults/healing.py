"""How a shop is: what a reader sees, which processes run, and whether answers cover the log."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xmlrpc.client import Fault as ManagerFault

import psutil
from confluent_kafka import KafkaException

from infra import http
from infra.errors import UserError
from infra.kafka import Offsets, create_admin, read_end_offsets
from infra.lake import locate_folders, read_coverage
from infra.settings import Settings
from infra.supervisor.parts import find_parts
from infra.wait import repeat_in_thread, wait_for
from ops.verify.log import is_archived
from ops.verify.served import parse_inputs
from ops.verify.verdict import count_behind
from services import liveness
from services.quarantine.follower import read_progress

PERIOD_SECONDS = 1.0
REQUEST_SECONDS_MAX = 10.0
POLL_SECONDS = 1.0
"""Less would take the core from what heals: one look asks the API, the broker and the processes."""

NO_ANSWER = (*http.NO_ANSWER, LookupError)
"""What an API that is away, that starts, or that has not loaded a pipeline leads to."""

WORLD = "simulator"
"""The process that makes the log grow by itself."""
SIGNS = frozenset({"ordering", "markdowns", "supplier"})
"""The services that report nothing but their start."""

NOT_YET = (*NO_ANSWER, KafkaException, UserError, ManagerFault, psutil.Error)
"""The errors that a request may raise while a part is down."""

Ages = Mapping[str, float | None]
"""By pipeline: how many seconds old its answer is at most; None: it is not known."""

Pipelines = Mapping[str, Mapping[str, Any]]
"""By name: what the API says of a pipeline whose views are loaded."""


def fetch_pipelines(settings: Settings) -> Pipelines:
    """What the API says of the pipelines of the settings; raises one of NO_ANSWER."""
    url = f"{settings.api_url}/v1/pipelines"
    pipelines = http.fetch_json(url, REQUEST_SECONDS_MAX, settings)["pipelines"]
    found = {pipeline["pipeline"]: pipeline for pipeline in pipelines}
    for name in settings.pipeline_names:
        if "as_of" not in found.get(name, {}):
            raise LookupError(f"the API has no views of {name} loaded")
    return {name: found[name] for name in settings.pipeline_names}


def fetch_ages(settings: Settings) -> Ages:
    """How old the answer of each pipeline is; raises one of NO_ANSWER."""
    ages_ms = {
        name: pipeline["freshness_ms"] for name, pipeline in fetch_pipelines(settings).items()
    }
    return {name: None if age is None else age / 1000 for name, age in ages_ms.items()}


class Sight:
    """What has been seen so far; moments are in seconds of one clock that only goes forward."""

    def __init__(self, pipelines: Iterable[str]) -> None:
        self.unanswered_seconds = 0.0
        """The longest time from a request without an answer to the next answer."""
        self.stale_seconds = 0.0
        """How old the oldest answer was that a reader could get."""
        self._held_until: dict[str, float] = {}
        self._awaited = frozenset(pipelines)
        self._silent_since: float | None = None

    @property
    def begun(self) -> bool:
        """Whether it is known of every pipeline how old an answer is."""
        return self._held_until.keys() >= self._awaited

    def forget(self) -> None:
        """Measure from now on: what was seen so far was before the fault."""
        self.unanswered_seconds = self.stale_seconds = 0.0

    def note(self, asked: float, now: float, ages: Ages | None) -> None:
        """Note what came of a request; None: no answer. Earlier answers are not forgotten."""
        for name, age in (ages or {}).items():
            if age is not None:
                self._held_until[name] = max(asked - age, self._held_until.get(name, asked - age))
        if self._silent_since is not None or ages is None:
            since = asked if self._silent_since is None else self._silent_since
            self.unanswered_seconds = max(self.unanswered_seconds, now - since)
            self._silent_since = since if ages is None else None
        if self.begun:
            oldest = min(self._held_until[name] for name in self._awaited)
            self.stale_seconds = max(self.stale_seconds, now - oldest)


@contextmanager
def watch(pipelines: Iterable[str], fetch: Callable[[], Ages]) -> Iterator[Sight]:
    """Ask again and again, beside what is done in the block. `fetch` may raise one of NO_ANSWER."""
    sight = Sight(pipelines)

    def look() -> None:
        asked = time.monotonic()
        try:
            ages: Ages | None = fetch()
        except NO_ANSWER:
            ages = None
        sight.note(asked, time.monotonic(), ages)

    with repeat_in_thread(look, PERIOD_SECONDS):
        yield sight


def read_served(pipelines: Pipelines) -> Offsets:
    """The offsets below which every pipeline has counted the partitions that it reads."""
    served: dict[tuple[str, int], int] = {}
    for pipeline in pipelines.values():
        for partition, offset in parse_inputs(pipeline["as_of"]).items():
            served[partition] = min(offset, served.get(partition, offset))
    return served


def heal(
    settings: Settings,
    parts: Mapping[str, int],
    seconds_max: float,
    ended: frozenset[str] = frozenset(),
    since_ms: int = 0,
) -> tuple[float | None, str]:
    """The seconds until all was well, or None with what is still lacking at the limit.

    `parts`: what has to run, with its process ids before the fault. What `ended` needs another
    process, which has reported a start since then. As soon as Kafka and the API answer, it takes
    the ends of the topics that pipelines read: everything has to cover them.
    """
    began, lacking = time.monotonic(), ""
    ends: Offsets = {}

    def is_well() -> bool:
        nonlocal ends, lacking
        try:
            ends = ends or read_ends(settings)
            deviations = list_lacking(settings, parts, ended, since_ms, ends)
            lacking = next(deviations, "")
        except NOT_YET as error:
            lacking = f"{type(error).__name__}: {error}".splitlines()[0]
        return not lacking

    if wait_for(is_well, seconds_max, POLL_SECONDS):
        return time.monotonic() - began, ""
    return None, lacking


def read_ends(settings: Settings) -> Offsets:
    """The present ends of the topics that the served pipelines read. Raises one of NOT_YET."""
    topics = {topic for topic, _ in read_served(fetch_pipelines(settings))}
    return read_end_offsets(create_admin(settings), topics)


def list_lacking(
    settings: Settings,
    parts: Mapping[str, int],
    ended: frozenset[str],
    since_ms: int,
    ends: Offsets,
) -> Iterator[str]:
    """What deviates from a shop that is well, in words. Raises one of NOT_YET."""
    running = find_parts(settings)
    for part, before in parts.items():
        if part not in running:
            yield f"{part} does not run"
        elif part in ended and running[part] == before:
            yield f"{part} has not ended"
    yield from list_behind(settings, ends, has_lake="lake" in parts)
    if WORLD in parts and sum(read_ends(settings).values()) <= sum(ends.values()):
        yield "the world stands still"
    for service in sorted(SIGNS & ended):
        if liveness.read_start_ms(settings, service) < since_ms:
            yield f"{service} has not reported its start"


def list_behind(settings: Settings, ends: Offsets, *, has_lake: bool) -> Iterator[str]:
    """Whatever does not cover the log up to these ends."""
    if behind := count_behind(ends, read_served(fetch_pipelines(settings))):
        yield f"answers lack {behind:,} records"
    if behind := count_behind(ends, read_progress(settings)):
        yield f"the quarantine is {behind:,} records behind"
    if has_lake:
        wanted = {partition: end for partition, end in ends.items() if is_archived(partition[0])}
        if behind := count_behind(wanted, read_coverage(locate_folders(settings).bronze).ends):
            yield f"the lake lacks {behind:,} records"
