"""Keeps one generation's database at the newest marker, come what may."""

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from services.api.background import Background
from services.api.changelog import Log
from services.api.database import Database, Unusable
from services.api.following import Following, Views, Work
from services.api.generation import Generation
from services.api.marker import Marker
from services.api.rate import Rate
from services.api.snapshots import Snapshots

log = logging.getLogger("api.materializer")

OpenLog = Callable[[Iterable[str]], AbstractContextManager[Log]]
OnLoaded = Callable[["Materializer"], None]


class Materializer(Background):
    """A thread, the only writer of its file.

    After any trouble it goes on from what is on disk; a database that cannot be gone on with is
    made anew, from the beginning of the log.
    """

    def __init__(
        self,
        generation: Generation,
        path: Path,
        open_log: OpenLog,
        on_loaded: OnLoaded,
        on_commit: Callable[[], None],
    ) -> None:
        super().__init__(str(generation))
        self.generation = generation
        self.path = path
        self.snapshots: Snapshots | None = None  # what to read from; None until it is loaded
        self.marker: Marker | None = None  # committed last
        self.rate = Rate()
        self.work = Work()
        self._open_log = open_log
        self._on_loaded = on_loaded
        self._on_commit = on_commit
        self._following: Following | None = None
        self._before: Materializer | None = None

    def follow(self, before: "Materializer | None") -> None:
        """Begin, once an earlier writer of the same file has ended."""
        self._before = before
        self.start()

    def progress(self) -> tuple[int, int]:
        """Offsets read of offsets to read to the marker aimed at; (0, 0) when none is known."""
        following = self._following
        return following.assembly.progress() if following else (0, 0)

    def hindrance(self) -> str | None:
        """Why the views are not there and are not being loaded either; None if they are."""
        if self.snapshots is not None:
            return None
        if self.trouble is not None:
            return self.trouble
        following = self._following
        return "no marker yet" if following and following.unmarked() else None

    def turn(self) -> None:
        if self._before is not None:
            self._before.join()
            self._before = None
        views = Views(self.generation)
        with self._open_log(views.topics) as changelog:
            database, following = self._resume(views, changelog)
            try:
                self._following = following
                self._serve(database.marker())
                while not self.stopping.is_set():
                    self._look_after(database)
                    committed = following.step()
                    self.well()
                    if committed:
                        self.rate.add(committed)
                        self._serve(committed)
            finally:
                self._following = None
                database.close()

    def _resume(self, views: Views, changelog: Log) -> tuple[Database, Following]:
        """The database as it is on disk, or a new one if that one cannot be gone on with."""
        extent = changelog.extent()
        tables = tuple(views.tables.values())
        identity = {
            "generation": str(self.generation),
            **{f"topic {topic}": extent.ids[topic] for topic in views.topics},
        }
        try:
            database = Database.open(self.path, identity, tables)
            try:
                return database, Following(views, database, changelog, extent, self.work)
            except Unusable:
                database.close()
                raise
        except Unusable as reason:
            log.warning("%s: rebuilding from offset zero: %s", self.generation, reason)
            self._withdraw()
            database = Database.create(self.path, identity, tables)
            return database, Following(views, database, changelog, extent, self.work)

    def _look_after(self, database: Database) -> None:
        if not database.in_place():
            raise Unusable(f"{self.path} is gone or another file")
        if self.snapshots is not None and self.snapshots.damaged:
            self._withdraw()
            raise Unusable(f"{self.path} was found damaged by a reader")

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
