"""What an answer is made from: a view at one marker, and how old that is."""

import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from services.api.background import Background
from services.api.commits import Commits
from services.api.control import Control
from services.api.copying import Copy
from services.api.freshness import Freshness
from services.api.generation import INVALID
from services.api.generations import Generations
from services.api.lake import Lake
from services.api.marker import Marker, by_topic
from services.api.materializer import Materializer
from services.api.problems import Problem
from services.api.publishing import Publishing
from services.api.registering import Registering
from services.api.snapshots import Snapshots


@dataclass(frozen=True)
class Sources:
    control: Control
    generations: Generations
    commits: Commits
    freshness: Freshness
    publishing: Publishing
    registering: Registering
    prices: Copy
    orders: Copy
    answers: Copy
    """What the supplier said to orders."""
    rejections: Copy
    lake: Lake
    data_docs: Path
    """The folder of the pages that `make quality` writes."""
    stopping: threading.Event = field(default_factory=threading.Event)  # streams are to end

    def start(self) -> None:
        for each in self._background():
            each.start()

    def stop(self) -> None:
        # The control thread first: it starts materializers.
        self.control.stop()
        self.control.join()
        self.generations.stop()
        for each in self._background():
            each.stop()
        for each in self._background():
            each.join()

    def end_streams(self) -> None:
        """Let every stream tell its reader that the API stops."""
        self.stopping.set()
        self.commits.tell()

    def alive(self) -> bool:
        """Whether every background thread is at work."""
        return all(each.alive() for each in (*self._background(), *self.generations.all()))

    def snapshots(self, view: str, generation: int | None = None) -> Snapshots:
        """Where to read the view from as it is now; raises Problem while there is nothing.

        From the generation of that number, if it is still kept up to date.
        """
        materializer = self.generations.serving(view, generation)
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
        refused = self._refused(view)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "View withdrawn" if refused else "View not there yet",
            f"Expected a promoted generation of the pipeline that writes {view}, found "
            f"{refused or 'none'}{_because(self.control.trouble)}. "
            "See which pipelines run: make status.",
            headers={"Retry-After": "1"},
        )

    def _refused(self, view: str) -> str | None:
        """Which generation of the view may not be trusted, and why."""
        for promotion in tuple(self.generations.promotions.values()):
            for each in promotion.generations.values():
                if view in each.views and each.state == INVALID:
                    return f"{each} invalid{_because(each.reason)}"
        return None

    def _background(self) -> tuple[Background, ...]:
        return (
            *(self.control, self.freshness, self.publishing, self.registering),
            *(self.prices, self.orders, self.answers, self.rejections),
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
