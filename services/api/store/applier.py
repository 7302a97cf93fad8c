"""Applies changelogs to a database: reads rows, applies them, commits at the marker."""

from math import inf
from time import monotonic

from prometheus_client import Histogram

from contracts import BOOKS, CONTRACTS, MARKERS, get_contract
from contracts.validation import Rejection
from infra.errors import UserError
from infra.kafka import Offsets, Partition
from ops.generations.record import Generation
from services.api.store.assembly import Assembly
from services.api.store.changelog import READER, Changelog, End, Extent, Record, read_row
from services.api.store.database import Database, Unusable
from services.api.store.marker import Marker
from services.api.store.tables import Stored, Table
from services.api.turns import give_way

CHECK_SECONDS = 1.0
MARKER_PARTITION: Partition = (MARKERS.name, 0)
BOUNDS_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, inf)
"""The longest duration that each bucket of a histogram holds."""


class Views:
    """The topics that carry a generation's views, and the tables of these views."""

    def __init__(self, generation: Generation) -> None:
        """Raises UserError for a view whose contract this code has no more, after its sunset."""
        for view in generation.views:
            if view not in CONTRACTS:
                raise UserError(
                    f"its view {view} has no contract in this code any more. Have this code make "
                    f"its successor: retail replay start {generation.pipeline}, then "
                    f"retail replay promote {generation.pipeline}"
                )
        self.prefix = f"{generation.pipeline}/{generation.number}"  # of its keys in shared topics
        topics = {**generation.outputs, BOOKS.name: BOOKS.name}
        self.by_topic = {topic: view for view, topic in topics.items()}
        self.tables = {view: Table(get_contract(view)) for view in topics}

    @property
    def topics(self) -> tuple[str, ...]:
        return MARKERS.name, *self.by_topic


class Work:
    """Durations since the process started, over all runs: one per commit."""

    def __init__(self) -> None:
        self.batches = _create_histogram(
            "retail_pipeline_batch_seconds",
            "From the moment that a batch was handed over until all its rows were acknowledged.",
        )
        self.waits = _create_histogram(
            "retail_pipeline_publish_to_visible_seconds",
            "From publication until answers hold a record; per batch of the one that waited most.",
        )


def _create_histogram(name: str, says: str) -> Histogram:
    return Histogram(name, says, registry=None, buckets=BOUNDS_SECONDS)


class Applier:
    """One uninterrupted run. Its caller is the only writer of the database."""

    def __init__(
        self, views: Views, database: Database, log: Changelog, extent: Extent, work: Work
    ) -> None:
        self._views = views
        self._database = database
        self._log = log
        self._work = work
        self._ids = extent.ids
        self._next_check = monotonic() + CHECK_SECONDS
        self._markers_known = False  # whether the marker topic was read to its end once
        marker = database.find_marker()
        start = find_start(extent, marker)
        self.assembly: Assembly[Stored] = Assembly(
            {
                partition: offset
                for partition, offset in start.items()
                if partition != MARKER_PARTITION
            },
            marker.batch if marker else None,
        )
        log.start(start)

    def step(self) -> Marker | None:
        """Apply the records that have arrived; returns the last committed marker, if any.

        Raises Unusable when the log is no longer the one that the database was built from.
        """
        self._check()
        for each in give_way(self._log.read()):
            is_marker = each.partition == MARKER_PARTITION
            if isinstance(each, End) and is_marker:
                self._markers_known = True
            elif isinstance(each, End):
                self.assembly.note_end(each.partition, each.offset)
            elif is_marker:
                self._take_marker(each)
            else:
                self.assembly.add(each.partition, each.offset, self._to_row(each))
        last = None
        while marker := self._advance():
            last = marker
        self._log.pause(self.assembly.list_full())
        return last

    def is_idle(self) -> bool:
        """Whether there is no marker to reach: none yet, or none beyond the last commit."""
        return self._markers_known and self.assembly.target is None

    def _check(self) -> None:
        # The consumer does not notice when a topic is deleted and created again: it continues
        # with the offsets of the old one.
        if monotonic() < self._next_check:
            return
        self._next_check = monotonic() + CHECK_SECONDS
        if self._log.read_ids() != self._ids:
            raise Unusable("a topic was deleted and made anew")

    def _advance(self) -> Marker | None:
        if self._markers_known:
            self.assembly.set_target()
        views: dict[str, list[Stored]] = {}
        for (topic, _), row in self.assembly.take_ready():
            views.setdefault(self._views.by_topic[topic], []).append(row)
        for view, rows in views.items():
            self._database.apply(view, rows)
        marker = self.assembly.find_complete()
        if marker is not None:
            self._database.commit(marker)
            if marker.took_ms is not None:
                self._work.batches.observe(marker.took_ms / 1000)
            self.assembly.finish()
        return marker

    def _take_marker(self, record: Record) -> None:
        if record.value is None or record.key != self._views.prefix.encode():
            return  # of another pipeline or generation, or a deletion
        row = read_row(MARKERS, record)
        if row is None:
            return
        marker = Marker.read(row, record.offset)
        if foreign := marker.outputs.keys() - self.assembly.reached.keys():
            READER.set_aside(record.place, Rejection("unknown-output", f"outputs {min(foreign)}"))
            return
        self.assembly.mark(marker)

    def _to_row(self, record: Record) -> Stored | None:
        view = self._views.by_topic[record.partition[0]]
        # Control topics carry the rows of all pipelines; other topics belong to this generation.
        if view == BOOKS.name and not record.key.startswith(f"{self._views.prefix}/".encode()):
            return None
        # A deletion is of a row whose retention is over: it goes, or is gone, with the commit.
        if record.value is None and CONTRACTS[view].retention is not None:
            return None
        row = read_row(CONTRACTS[view], record)
        return None if row is None else self._views.tables[view].to_stored(row)


def find_start(extent: Extent, marker: Marker | None) -> Offsets:
    """The offsets to continue from after the marker; without one, the beginning of every topic.

    Raises Unusable where the marker is of another log than the present one.
    """
    if marker is None:
        return extent.starts
    stored = {**marker.outputs, MARKER_PARTITION: marker.offset + 1}
    for (topic, partition), offset in stored.items():
        first, end = (side.get((topic, partition), 0) for side in (extent.starts, extent.ends))
        if not first <= offset <= end:
            raise Unusable(
                f"the database goes on at offset {offset} of {topic}/{partition}, "
                f"whose log holds {first} to {end}"
            )
    return {partition: stored.get(partition, first) for partition, first in extent.starts.items()}
