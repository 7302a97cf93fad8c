"""What a reader sees during a fault: whether the API answers, and how old its answers are."""

import time
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Thread
from typing import Any

from infra import http
from infra.settings import Settings

PERIOD_SECONDS = 0.5
REQUEST_SECONDS_MAX = 10.0
STOP_SECONDS_MAX = 2 * REQUEST_SECONDS_MAX

NO_ANSWER = (*http.NO_ANSWER, LookupError)
"""The errors of an API that is down, starts, or has not loaded a pipeline."""

Ages = Mapping[str, float | None]
"""By pipeline: the age of its answer in seconds, at most; None: unknown."""

Pipelines = Mapping[str, Mapping[str, Any]]
"""By name: the API's document of a pipeline whose views are loaded."""


def fetch_pipelines(settings: Settings) -> Pipelines:
    """The API's documents of the pipelines of the settings; raises one of NO_ANSWER."""
    url = f"{settings.api_url}/v1/pipelines"
    known = http.fetch_json(url, REQUEST_SECONDS_MAX)["pipelines"]
    by_name = {one["pipeline"]: one for one in known}
    for name in settings.pipeline_names:
        if "as_of" not in by_name.get(name, {}):
            raise LookupError(f"the API has no views of {name} loaded")
    return {name: by_name[name] for name in settings.pipeline_names}


def fetch_ages(settings: Settings) -> Ages:
    """The age of each pipeline's answer; raises one of NO_ANSWER."""
    ages_ms = {name: one["freshness_ms"] for name, one in fetch_pipelines(settings).items()}
    return {name: None if age is None else age / 1000 for name, age in ages_ms.items()}


class Sight:
    """The observations so far; moments are in seconds of the monotonic clock."""

    def __init__(self, pipelines: Iterable[str]) -> None:
        self.unanswered_seconds = 0.0
        """The longest time from a request without an answer to the next answer."""
        self.stale_seconds = 0.0
        """The age of the oldest answer that a reader could get."""
        self._covered_until: dict[str, float] = {}
        self._awaited = frozenset(pipelines)
        self._silent_since: float | None = None

    @property
    def begun(self) -> bool:
        """Whether the age of an answer is known for every pipeline."""
        return self._covered_until.keys() >= self._awaited

    def forget(self) -> None:
        """Measure from now on; earlier observations were before the fault."""
        self.unanswered_seconds = self.stale_seconds = 0.0

    def note(self, asked: float, now: float, ages: Ages | None) -> None:
        """Record the outcome of a request; None: no answer. Earlier answers still count."""
        for name, age in (ages or {}).items():
            if age is not None:
                before = self._covered_until.get(name, asked - age)
                self._covered_until[name] = max(asked - age, before)
        if self._silent_since is not None or ages is None:
            since = asked if self._silent_since is None else self._silent_since
            self.unanswered_seconds = max(self.unanswered_seconds, now - since)
            self._silent_since = since if ages is None else None
        if self.begun:
            oldest = min(self._covered_until[name] for name in self._awaited)
            self.stale_seconds = max(self.stale_seconds, now - oldest)


class Watch:
    """Asks the API repeatedly in a thread, as long as the block lasts."""

    def __init__(self, pipelines: Iterable[str], fetch: Callable[[], Ages]) -> None:
        self.sight = Sight(pipelines)
        self._fetch = fetch
        self._stopping = Event()
        self._thread = Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Sight:
        self._thread.start()
        return self.sight

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(STOP_SECONDS_MAX)

    def _look(self) -> None:
        while not self._stopping.is_set():
            asked = time.monotonic()
            try:
                ages: Ages | None = self._fetch()
            except NO_ANSWER:
                ages = None
            self.sight.note(asked, time.monotonic(), ages)
            self._stopping.wait(PERIOD_SECONDS)
