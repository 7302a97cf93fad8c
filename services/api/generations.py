"""Which generation of each pipeline is served, and which one is being loaded to take its place.

The switch is one assignment, at the commit that loads the promoted generation: a request reads
from one materializer from its first row to its last. No more than two are kept per pipeline.
"""

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path

from services.api.database import peek, remove
from services.api.generation import Generation, Promotion
from services.api.materializer import Materializer, OnLoaded

log = logging.getLogger("api.generations")

Make = Callable[[Generation, Path, OnLoaded], Materializer]


class Generations:
    """Per pipeline: the latest promotion, the served materializer and the one being loaded."""

    def __init__(self, folder: Path, make: Make) -> None:
        self.promotions: dict[str, Promotion] = {}
        self._folder = folder
        self._make = make
        self._served: dict[str, Materializer] = {}
        self._loading: dict[str, Materializer] = {}
        self._retired: dict[Path, Materializer] = {}
        self._lock = threading.Lock()

    def served(self, pipeline: str) -> Materializer | None:
        """The materializer to read a pipeline's views from; it may be loading still."""
        return self._served.get(pipeline) or self._loading.get(pipeline)

    def loading(self, pipeline: str) -> Materializer | None:
        """The promoted generation, while it is not the one served."""
        return self._loading.get(pipeline)

    def serving(self, view: str) -> Materializer | None:
        """The materializer to read a view from."""
        for pipeline in tuple(self.promotions):
            found = self.served(pipeline)
            if found and view in found.generation.topics:
                return found
        return None

    def promote(self, promotion: Promotion) -> None:
        """Take a control record: load the promoted generation, if it is not here already."""
        pipeline = promotion.pipeline
        with self._lock:
            self.promotions[pipeline] = promotion
            if promotion.promoted is None:
                return
            wanted = promotion.generations[promotion.promoted]
            if not self._numbers_here(pipeline):
                self._take_up(promotion, wanted)
            loading = self._loading.get(pipeline)
            if loading and loading.generation.number != wanted.number:
                self._retire(self._loading.pop(pipeline))
            if wanted.number not in self._numbers_here(pipeline):
                self._tidy(pipeline, keep=wanted.number)
                self._loading[pipeline] = self._begin(wanted)
                log.info("%s: promoted; loading", wanted)

    def stop(self) -> None:
        with self._lock:
            every = [*self._served.values(), *self._loading.values()]
            every += self._retired.values()
        for materializer in every:
            materializer.stop()
        for materializer in every:
            materializer.join()

    def inputs(self) -> set[str]:
        """The topics that the answers are made from."""
        markers = [each.marker for each in self.all()]
        return {topic for marker in markers if marker for topic, _ in marker.inputs}

    def all(self) -> tuple[Materializer, ...]:
        """Every materializer at work."""
        return *self._served.values(), *self._loading.values()

    def _loaded(self, materializer: Materializer) -> None:
        pipeline = materializer.generation.pipeline
        with self._lock:
            if self._loading.get(pipeline) is not materializer:
                return
            before = self._served.get(pipeline)
            self._served[pipeline] = materializer
            del self._loading[pipeline]
            if before:
                # Its file stays until the next promotion: requests may be reading it.
                self._retire(before)
        log.info("%s: served from now on", materializer.generation)

    def _take_up(self, promotion: Promotion, wanted: Generation) -> None:
        """At the start: go on serving what was served last, until the promoted is loaded."""
        if peek(self._file(wanted)) is not None:
            return
        others = {
            number: marker.written_at_ms
            for number in self._numbers_on_disk(promotion.pipeline)
            if number in promotion.generations
            and (marker := peek(self._file(promotion.generations[number])))
        }
        if others:
            # A generation that was retired before stopped at an earlier marker.
            last = promotion.generations[max(others, key=others.__getitem__)]
            self._served[promotion.pipeline] = self._begin(last)

    def _begin(self, generation: Generation) -> Materializer:
        path = self._file(generation)
        materializer = self._make(generation, path, self._loaded)
        materializer.start(after=self._retired.pop(path, None))
        return materializer

    def _retire(self, materializer: Materializer) -> None:
        materializer.stop()
        self._retired[materializer.path] = materializer
        log.info("%s: no longer followed", materializer.generation)

    def _tidy(self, pipeline: str, keep: int) -> None:
        for number in set(self._numbers_on_disk(pipeline)) - {keep, *self._numbers_here(pipeline)}:
            path = self._path(pipeline, number)
            remove(path)
            self._retired.pop(path, None)

    def _numbers_here(self, pipeline: str) -> set[int]:
        """The generations of a pipeline that are followed."""
        groups = (self._served, self._loading)
        return {group[pipeline].generation.number for group in groups if pipeline in group}

    def _numbers_on_disk(self, pipeline: str) -> tuple[int, ...]:
        """The generations of a pipeline that have left a file."""
        pattern = re.compile(rf"{re.escape(pipeline)}\.g(\d+)\.sqlite")
        names = (pattern.fullmatch(file.name) for file in self._folder.glob("*.sqlite"))
        return tuple(int(name[1]) for name in names if name)

    def _file(self, generation: Generation) -> Path:
        return self._path(generation.pipeline, generation.number)

    def _path(self, pipeline: str, number: int) -> Path:
        return self._folder / f"{pipeline}.g{number}.sqlite"
