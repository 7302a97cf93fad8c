"""Keeps the database of one generation at the newest marker."""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic

from infra.kafka import Offsets
from ops.generations.record import Generation
from services.api.store.applier import Applier, Views, Work
from services.api.store.background import Background, render_cause
from services.api.store.changelog import Changelog
from services.api.store.database import Database, Unusable
from services.api.store.marker import Marker
from services.api.store.snapshots import Snapshots

WINDOW_SECONDS = 60.0
MARKERS_MAX = 1_024

log = logging.getLogger("api.materializer")

OpenLog = Callable[[Iterable[str]], AbstractContextManager[Changelog]]
OnLoaded = Callable[["Materializer"], None]
MeasureWait = Callable[[Offsets], float | None]
"""Returns the seconds that the oldest record beyond these offsets is in the log; None: unknown."""


class Rate:
    """Input records per second of wall time over the last minute, from markers."""

    def __init__(self, moment: Callable[[], float] = monotonic) -> None:
        self._moment = moment
        self._markers: deque[tuple[float, int]] = deque(maxlen=MARKERS_MAX)

    def add(self, marker: Marker) -> None:
        self._markers.append((self._moment(), sum(marker.inputs.values())))

    def measure_per_second(self) -> float | None:
        """The rate; None until this process has seen two markers."""
        markers = tuple(self._markers)
        if len(markers) < 2:
            return None
        now = self._moment()
        recent = [each for each in markers if each[0] >= now - WINDOW_SECONDS]
        if not recent:
            return 0.0
        first_at, first_total = recent[0]
        return (markers[-1][1] - first_total) / max(now - first_at, 0.001)


class Materializer(Background):
    """A thread, the only writer of its file.

    After an error it continues from what is on disk. A database that cannot be continued is rebuilt
    from the beginning of the log.
    """

    def __init__(
        self,
        generation: Generation,
        path: Path,
        open_log: OpenLog,
        on_loaded: OnLoaded,
        on_commit: Callable[[], None],
        measure_wait: MeasureWait,
    ) -> None:
        super().__init__(str(generation))
        self.generation = generation
        self.path = path
        self.snapshots: Snapshots | None = None  # connections to read from; None until it is loaded
        self.marker: Marker | None = None  # the last one committed
        self.rate = Rate()
        self.work = Work()
        self._open_log = open_log
        self._on_loaded = on_loaded
        self._on_commit = on_commit
        self._measure_wait = measure_wait
        self._applier: Applier | None = None
        self._before: Materializer | None = None

    def follow(self, before: "Materializer | None") -> None:
        """Start once an earlier writer of the same file has ended."""
        self._before = before
        self.start()

    def measure_progress(self) -> tuple[int, int]:
        """Offsets read, and offsets to read, up to the target marker; (0, 0) without a target."""
        applier = self._applier
        return applier.assembly.measure_progress() if applier else (0, 0)

    def describe_progress(self) -> str:
        """The progress, for a person."""
        read, total = self.measure_progress()
        share = f"{read} of {total} records read" if total else "no marker read yet"
        return f"{self.generation}: {share}{render_cause(self.trouble)}"

    def explain_absence(self) -> str | None:
        """Why the views are neither loaded nor being loaded; None if they are."""
        if self.snapshots is not None:
            return None
        if self.trouble is not None:
            return self.trouble
        applier = self._applier
        return "no marker yet" if applier and applier.is_idle() else None

    def run_once(self) -> None:
        if self._before is not None:
            self._before.join()
            self._before = None
        views = Views(self.generation)
        with self._open_log(views.topics) as changelog:
            database, applier = self._resume(views, changelog)
            try:
                self._applier = applier
                self._serve(database.find_marker())
                while not self.stopping.is_set():
                    self._check(database)
                    committed = applier.step()
                    if committed or applier.is_idle() or self.snapshots is None:
                        self.clear_trouble()
                    if committed:
                        self.rate.add(committed)
                        self._add_wait(committed)
                        self._serve(committed)
            finally:
                self._applier = None
                database.close()

    def _resume(self, views: Views, changelog: Changelog) -> tuple[Database, Applier]:
        """The database on disk; a new one if that cannot be continued."""
        extent = changelog.read_extent()
        tables = tuple(views.tables.values())
        identity = {
            "generation": str(self.generation),
            **{f"topic {topic}": extent.ids[topic] for topic in views.topics},
        }
        database = None
        try:
            database = Database.open(self.path, identity, tables)
            return database, Applier(views, database, changelog, extent, self.work)
        except Unusable as reason:
            log.warning("%s: rebuilding from offset zero: %s", self.generation, reason)
        if database is not None:
            database.close()
        self._withdraw()
        database = Database.create(self.path, identity, tables)
        return database, Applier(views, database, changelog, extent, self.work)

    def _check(self, database: Database) -> None:
        if not database.is_in_place():
            raise Unusable(f"{self.path} is gone or another file")
        if self.snapshots is not None and self.snapshots.damaged:
            self._withdraw()
            raise Unusable(f"{self.path} was found damaged by a reader")

    def _add_wait(self, committed: Marker) -> None:
        """Add to the histogram how long the marker's new records have waited."""
        before = self.marker
        if self.snapshots is None or before is None or before.inputs == committed.inputs:
            return
        seconds = self._measure_wait(before.inputs)
        if seconds is not None:
            self.work.waits.observe(seconds)

    def _serve(self, marker: Marker | None) -> None:
        if marker is None:
            return
        self.marker = marker
        if self.snapshots is None:
            self.snapshots = Snapshots(self.path)
            log.info("%s: loaded to batch %d", self.generation, marker.batch)
            self._on_loaded(self)
        self._on_commit()

    def _withdraw(self) -> None:
        if self.snapshots is not None:
            self.snapshots.close()
            self.snapshots = None
