"""The served generation of each pipeline, and those on standby.

A ready candidate is loaded before its promotion, and a retired generation stays up to date. So a
promotion and its rollback are one assignment each, and a request reads all its rows from one
materializer.

A promotion waits until every registered reader has loaded the candidate. So each process announces
what it has loaded, under a name that it keeps over restarts. The announcement is a heartbeat too: a
promotion does not wait for a reader that has been silent for a while.
"""

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from confluent_kafka import Producer

from contracts import READERS, Row, encode, encode_key
from infra.clock import get_wall_ms
from infra.kafka import send
from ops.generations.record import Generation, Generations
from services.api.store.background import Background
from services.api.store.database import locate_database, remove
from services.api.store.materializer import Materializer, OnLoaded

LOOK_SECONDS = 0.1
ANNOUNCE_SECONDS = 5.0
"""The longest pause between two announcements."""
SEND_SECONDS_MAX = 5.0

log = logging.getLogger("api.generations")

Make = Callable[[Generation, Path, OnLoaded], Materializer]
Announce = Callable[[Row], None]


class Loaded(NamedTuple):
    """A generation that the API could serve now."""

    pipeline: str
    number: int
    served: bool


class Materializers:
    """Per pipeline: the latest control record, the followed generations, and the served one."""

    def __init__(self, folder: Path, make: Make) -> None:
        self.by_pipeline: dict[str, Generations] = {}
        self._folder = folder
        self._make = make
        self._followed: dict[str, dict[int, Materializer]] = {}
        self._served: dict[str, int] = {}
        self._retired: dict[Path, Materializer] = {}
        self._lock = threading.Lock()

    def find_served(self, pipeline: str) -> Materializer | None:
        """The materializer to read a pipeline's views from; it may still be loading."""
        followed = self._followed.get(pipeline, {})
        number = self._served.get(pipeline)
        return (None if number is None else followed.get(number)) or self.find_loading(pipeline)

    def find_loading(self, pipeline: str) -> Materializer | None:
        """The promoted generation, while another one is served."""
        generations = self.by_pipeline.get(pipeline)
        if generations is None or generations.promoted is None:
            return None
        number = generations.promoted.number
        if number == self._served.get(pipeline):
            return None
        return self._followed.get(pipeline, {}).get(number)

    def find(self, pipeline: str, number: int) -> Materializer | None:
        """The generation's materializer, if it is kept up to date."""
        return self._followed.get(pipeline, {}).get(number)

    def find_view(self, view: str) -> Materializer | None:
        """The materializer to read a view from; it may still be loading."""
        for pipeline in tuple(self.by_pipeline):
            materializer = self.find_served(pipeline)
            if materializer and view in materializer.generation.views:
                return materializer
        return None

    def apply(self, generations: Generations) -> None:
        """Apply a control record: follow the generations on standby, serve the promoted one."""
        pipeline = generations.pipeline
        with self._lock:
            self.by_pipeline[pipeline] = generations
            if generations.promoted is None:
                self._withdraw(generations)
                return
            if generations.is_invalid(self._served.get(pipeline, generations.promoted.number)):
                del self._served[pipeline]
            self._follow(generations)
            self._switch(pipeline)

    def stop(self, seconds_left: Callable[[], float]) -> None:
        """Stop every materializer, and wait for each as long as there are seconds left."""
        with self._lock:
            every = [*self.list_all(), *self._retired.values()]
        for materializer in every:
            materializer.stop()
        for materializer in every:
            materializer.join(seconds_left())

    def list_inputs(self) -> set[str]:
        """The input topics of all views."""
        markers = [each.marker for each in self.list_all()]
        return {topic for marker in markers if marker for topic, _ in marker.inputs}

    def list_loaded(self) -> tuple[Loaded, ...]:
        """Every generation that the API could serve now."""
        return tuple(
            sorted(
                Loaded(pipeline, number, self._served.get(pipeline) == number)
                for pipeline, followed in tuple(self._followed.items())
                for number, materializer in tuple(followed.items())
                if materializer.snapshots is not None
            )
        )

    def list_all(self) -> tuple[Materializer, ...]:
        """Every materializer at work."""
        return tuple(
            each for followed in tuple(self._followed.values()) for each in tuple(followed.values())
        )

    def _handle_loaded(self, materializer: Materializer) -> None:
        with self._lock:
            self._switch(materializer.generation.pipeline)

    def _switch(self, pipeline: str) -> None:
        """Serve the promoted generation once it is loaded; retire those no longer followed."""
        generations, followed = self.by_pipeline[pipeline], self._followed[pipeline]
        promoted = followed.get(generations.promoted.number) if generations.promoted else None
        if promoted is None or promoted.snapshots is None:
            return
        before = self._served.get(pipeline)
        self._served[pipeline] = promoted.generation.number
        if before != promoted.generation.number:
            log.info("%s: served from now on", promoted.generation)
        for number in followed.keys() - {generation.number for generation in generations.readable}:
            # Its file stays until the next record: requests may be reading it.
            self._retire(followed.pop(number))

    def _follow(self, generations: Generations) -> None:
        """Follow the standby generations, and the served one until its successor is loaded."""
        pipeline = generations.pipeline
        followed = self._followed.setdefault(pipeline, {})
        kept = {
            self._served.get(pipeline),
            *(generation.number for generation in generations.readable),
        }
        for number in followed.keys() - kept:
            self._retire(followed.pop(number))
        for number in set(self._list_on_disk(pipeline)) - kept:
            path = locate_database(self._folder, pipeline, number)
            remove(path)
            self._retired.pop(path, None)
        for generation in generations.readable:
            if generation.number not in followed:
                followed[generation.number] = self._start(generation)
                log.info("%s: %s; loading", generation, generation.state)

    def _withdraw(self, generations: Generations) -> None:
        """Stop serving: no generation may be read."""
        self._served.pop(generations.pipeline, None)
        for materializer in self._followed.pop(generations.pipeline, {}).values():
            self._retire(materializer)
        if not generations.members:
            del self.by_pipeline[generations.pipeline]

    def _start(self, generation: Generation) -> Materializer:
        path = self._locate_file(generation)
        materializer = self._make(generation, path, self._handle_loaded)
        materializer.follow(self._retired.pop(path, None))
        return materializer

    def _retire(self, materializer: Materializer) -> None:
        materializer.stop()
        self._retired[materializer.path] = materializer
        log.info("%s: no longer followed", materializer.generation)

    def _list_on_disk(self, pipeline: str) -> tuple[int, ...]:
        """The generations of a pipeline that have a file."""
        pattern = re.compile(rf"{re.escape(pipeline)}\.g(\d+)\.sqlite")
        names = (pattern.fullmatch(file.name) for file in self._folder.glob("*.sqlite"))
        return tuple(int(name[1]) for name in names if name)

    def _locate_file(self, generation: Generation) -> Path:
        return locate_database(self._folder, generation.pipeline, generation.number)


class Registration(Background):
    """A thread that announces the loaded generations: after each change, and regularly."""

    def __init__(
        self, name: str, loaded: Callable[[], tuple[Loaded, ...]], announce: Announce
    ) -> None:
        super().__init__("registration")
        self._name = name
        self._loaded = loaded
        self._announce = announce
        self._announced: tuple[Loaded, ...] | None = None
        self._due = 0.0

    def run_once(self) -> None:
        now = self._loaded()
        if now != self._announced or monotonic() >= self._due:
            self._announce(
                {
                    "reader": self._name,
                    "loaded": [each._asdict() for each in now],
                    "written_at": get_wall_ms(),
                }
            )
            self._announced, self._due = now, monotonic() + ANNOUNCE_SECONDS
        self.clear_trouble()
        self.stopping.wait(LOOK_SECONDS)


def create_announcer(client: Producer) -> Announce:
    """A function that publishes an announcement in the control topic; it raises NotDelivered."""

    def announce(row: Row) -> None:
        record = encode_key(READERS, row), encode(READERS, row)
        send(client, READERS.name, *record, seconds_max=SEND_SECONDS_MAX)

    return announce
