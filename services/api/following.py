"""One uninterrupted run from the log into a database: read, apply, commit at the marker."""

from dataclasses import dataclass
from time import monotonic

from contracts import BOOKS, CONTRACTS, MARKERS, Contract, contract
from infra.kafka import Partition
from services.api.assembly import Assembly
from services.api.changelog import End, Extent, Log, Record
from services.api.database import Database, Unusable
from services.api.generation import Generation
from services.api.marker import Marker, Offsets
from services.api.reading import decode
from services.api.tables import Stored, Table

CHECK_SECONDS = 1.0
MARKER_PARTITION: Partition = (MARKERS.name, 0)


class BadChangelog(Exception):
    """A pipeline wrote what its contract does not allow: our mistake, not the data's."""


class Views:
    """Which topics carry a generation's views, and the tables they go into."""

    def __init__(self, generation: Generation) -> None:
        self.prefix = f"{generation.pipeline}/{generation.number}"  # of its keys in shared topics
        topics = {**generation.topics, BOOKS.name: BOOKS.name}
        self.by_topic = {topic: view for view, topic in topics.items()}
        self.tables = {view: Table(contract(view)) for view in topics}

    @property
    def topics(self) -> tuple[str, ...]:
        return MARKERS.name, *self.by_topic


@dataclass
class Work:
    """What has been done since the process started, over all runs."""

    commits: int = 0
    rows: int = 0


class Following:
    """The state of one run. Whoever steps it is the only writer of the database."""

    def __init__(
        self, views: Views, database: Database, log: Log, extent: Extent, work: Work
    ) -> None:
        self._views = views
        self._database = database
        self._log = log
        self._work = work
        self._ids = extent.ids
        self._next_check = monotonic() + CHECK_SECONDS
        self._markers_known = False  # whether the marker topic has been read to its end once
        marker = database.marker()
        start = start_offsets(extent, marker)
        self.assembly: Assembly[Stored] = Assembly(
            {at: offset for at, offset in start.items() if at != MARKER_PARTITION},
            marker.batch if marker else None,
        )
        log.start(start)

    def step(self) -> Marker | None:
        """Take what has arrived; returns the marker committed last, if any was.

        Raises Unusable when the log is no longer the one that the database was made from.
        """
        self._check()
        for each in self._log.read():
            if isinstance(each, End):
                self._take_end(each)
            elif each.partition == MARKER_PARTITION:
                self._take_marker(each)
            else:
                self.assembly.add(each.partition, each.offset, self._row(each))
        last = None
        while marker := self._advance():
            last = marker
        self._log.hold(self.assembly.full())
        return last

    def unmarked(self) -> bool:
        """Whether there is no marker to read up to, and so nothing to load."""
        return self._markers_known and self.assembly.target is None

    def _check(self) -> None:
        # A topic that is deleted and made anew goes on under the offsets of the old one, and
        # the consumer does not notice.
        if monotonic() < self._next_check:
            return
        self._next_check = monotonic() + CHECK_SECONDS
        if self._log.ids() != self._ids:
            raise Unusable("a topic was deleted and made anew")

    def _advance(self) -> Marker | None:
        if self._markers_known:
            self.assembly.aim()
        for view, rows in self._by_view().items():
            self._database.apply(view, rows)
            self._work.rows += len(rows)
        marker = self.assembly.complete()
        if marker is not None:
            self._database.commit(marker)
            self._work.commits += 1
            self.assembly.committed()
        return marker

    def _by_view(self) -> dict[str, list[Stored]]:
        views: dict[str, list[Stored]] = {}
        for (topic, _), row in self.assembly.ready():
            views.setdefault(self._views.by_topic[topic], []).append(row)
        return views

    def _take_end(self, end: End) -> None:
        if end.partition == MARKER_PARTITION:
            self._markers_known = True
        else:
            self.assembly.end(end.partition, end.offset)

    def _take_marker(self, record: Record) -> None:
        if record.value is None or record.key.decode() != self._views.prefix:
            return  # of another pipeline or generation, or that one's end
        self.assembly.mark(Marker.of(_value(record, MARKERS), record.offset))

    def _row(self, record: Record) -> Stored | None:
        view = self._views.by_topic[record.partition[0]]
        # The control topics carry every pipeline's rows, all others belong to this generation.
        if view == BOOKS.name and not record.key.decode().startswith(f"{self._views.prefix}/"):
            return None
        return self._views.tables[view].stored(_value(record, CONTRACTS[view]))


def start_offsets(extent: Extent, marker: Marker | None) -> Offsets:
    """Where to go on after the marker, or everything's beginning; raises Unusable.

    Unusable: the marker was taken from another log than the one there is now.
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
    return {at: stored.get(at, first) for at, first in extent.starts.items()}


def _value(record: Record, expected: Contract) -> dict[str, object]:
    where = f"{record.partition[0]}/{record.partition[1]} at offset {record.offset}"
    if record.value is None:
        raise BadChangelog(f"{where}: expected a row, found a deletion; views never delete keys")
    decoded = decode(record.value)
    if decoded.contract.name != expected.name:
        raise BadChangelog(f"{where}: expected {expected.name}, found {decoded.contract.name}")
    return decoded.value
