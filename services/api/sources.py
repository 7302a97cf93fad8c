"""What an answer is made from: a view at one marker, and how old that is."""

import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from services.api.commits import Commits
from services.api.control import Control
from services.api.copying import Copy
from services.api.freshness import Freshness
from services.api.generations import Generations
from services.api.marker import Marker, by_topic
from services.api.materializer import Materializer
from services.api.problems import Problem
from services.api.publishing import Publishing
from services.api.snapshots import Snapshots


@dataclass(frozen=True)
class Sources:
    control: Control
    generations: Generations
    commits: Commits
    freshness: Freshness
    publishing: Publishing
    prices: Copy
    rejections: Copy
    stopping: threading.Event = field(default_factory=threading.Event)  # streams are to end

    def start(self) -> None:
        self.control.start()
        self.freshness.start()
        self.publishing.start()
        self.prices.start()
        self.rejections.start()

    def stop(self) -> None:
        # The control thread first: it starts materializers.
        self.control.stop()
        self.generations.stop()
        self.freshness.stop()
        self.publishing.stop()
        self.prices.stop()
        self.rejections.stop()

    def alive(self) -> bool:
        """Whether every background thread is at work."""
        materializers = all(each.alive() for each in self.generations.all())
        others = (self.freshness, self.publishing, self.prices, self.rejections)
        return materializers and self.control.alive() and all(each.alive() for each in others)

    def snapshots(self, view: str) -> Snapshots:
        """Where to read the view from as it is now; raises Problem while there is nothing."""
        materializer = self.generations.serving(view)
        if materializer is None:
            raise self.missing(view)
        snapshots = materializer.snapshots
        if snapshots is None:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "View being loaded",
                f"Expected {view} loaded to a marker, found {progress_text(materializer)}. "
                "Try again when GET /readyz says ready.",
                headers={"Retry-After": "1"},
            )
        return snapshots

    def missing(self, view: str) -> Problem:
        """What to say of a view that no promoted generation carries."""
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "View not there yet",
            f"Expected a promoted generation of the pipeline that writes {view}, found none"
            f"{_because(self.control.trouble)}. See which pipelines run: make status.",
            headers={"Retry-After": "1"},
        )

    def dated(self, marker: Marker) -> dict[str, Any]:
        """The members of every answer that say what it is an answer of."""
        age_ms, reason = self.freshness.of(marker.inputs)
        dates: dict[str, Any] = {
            "freshness_ms": age_ms,
            "as_of": {
                "generation": marker.generation,
                "batch": marker.batch,
                "inputs": by_topic(marker.inputs),
            },
        }
        return dates if reason is None else {**dates, "freshness_unknown": reason}


def progress_text(materializer: Materializer) -> str:
    """How far a materializer is, for a person."""
    read, total = materializer.progress()
    share = f"{read} of {total} records read" if total else "no marker read yet"
    return f"{materializer.generation}: {share}{_because(materializer.trouble)}"


def _because(trouble: str | None) -> str:
    return f" ({trouble})" if trouble else ""
