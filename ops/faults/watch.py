"""What a reader sees meanwhile: whether the API answers, and how old its answers are."""

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
"""What an API that is away, that starts, or that has not loaded a pipeline leads to."""

Ages = Mapping[str, float | None]
"""By pipeline: how many seconds old its answer is at most; None: it is not known."""

Pipelines = Mapping[str, Mapping[str, Any]]
"""By name: what the API says of a pipeline whose views are loaded."""


def fetch_pipelines(settings: Settings) -> Pipelines:
    """What the API says of the pipelines of the settings; raises one of NO_ANSWER."""
    url = f"{settings.api_url}/v1/pipelines"
    known = http.fetch_json(url, REQUEST_SECONDS_MAX, settings)["pipelines"]
    found = {one["pipeline"]: one for one in known}
    for name in settings.pipeline_names:
        if "as_of" not in found.get(name, {}):
            raise LookupError(f"the API has no views of {name} loaded")
    return {name: found[name] for name in settings.pipeline_names}


def fetch_ages(settings: Settings) -> Ages:
    """How old the answer of each pipeline is; raises one of NO_ANSWER."""
    ages_ms = {name: one["freshness_ms"] for name, one in fetch_pipelines(settings).items()}
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


class Watch:
    """Asks again and again, beside what is done, as long as the block lasts."""

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
