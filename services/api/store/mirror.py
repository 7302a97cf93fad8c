"""A mirror: every record of a topic without a view, in a SQLite file.

One transaction holds rows and the offsets they end at, so the thread may die anywhere. A
file that cannot be continued is rebuilt from the beginning of the topic.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from infra.kafka import Offsets, Partition
from infra.sqlite import is_damage
from services.api.store.background import Background
from services.api.store.changelog import End, Extent, Log, Record, read_row
from services.api.store.database import Unusable, connect, remove, reopening, require_table
from services.api.store.errors import MirrorLoading
from services.api.store.materializer import OpenLog
from services.api.store.tables import Stored, Table

CHECK_SECONDS = 1.0
LOADING = "it is being read"

PROGRESS = (
    "create table source (identity text not null)",
    "create table reached (partition integer primary key, offset integer not null)",
)

log = logging.getLogger("api.mirror")


@dataclass(frozen=True)
class Layout:
    """The storage of a topic's records. A changed layout makes a new file."""

    topic: str
    create: tuple[str, ...]
    insert: str
    """The insert statement; it handles a row whose key exists already."""
    row: Callable[[Record], Stored | None]
    """The stored row of a record; None where the record is not stored."""


def create_layout(table: Table, on_conflict: str, *indexes: str) -> Layout:
    """A layout that stores every good record as a row of the table, with these indexes.

    `on_conflict` says what happens to a second row of a key: `ignore` keeps the first row,
    `replace` keeps the last.
    """
    places = ", ".join("?" for _ in table.columns)

    def row(record: Record) -> Stored | None:
        value = read_row(table.contract, record)
        return None if value is None else table.to_stored(value)

    return Layout(
        topic=table.contract.name,
        create=(*table.create, *indexes),
        insert=f"insert or {on_conflict} into {table.name} values ({places})",
        row=row,
    )


class Mirror(Background):
    """A thread, the only writer of its file, and connections to read from it."""

    def __init__(self, layout: Layout, path: Path, open_log: OpenLog) -> None:
        super().__init__(layout.topic, trouble=LOADING)
        self._layout = layout
        self._path = path
        self._open_log = open_log
        self._loaded = False  # whether the file has reached the end of the topic once
        self._damaged = False

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """One transaction: rows and offsets of one moment. Raises MirrorLoading."""
        if not self._loaded:
            raise MirrorLoading(self._layout.topic, self.trouble or LOADING)
        address = f"{self._path.as_uri()}?mode=ro"
        try:
            # Opening takes a tenth of a millisecond and leaves no connection to manage.
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
                connection.execute("begin")
                yield connection
        except sqlite3.DatabaseError as error:
            self._damaged |= is_damage(error)
            raise

    def run_once(self) -> None:
        with self._open_log([self._layout.topic]) as topic:
            extent = topic.read_extent()
            with closing(self._open_file(extent)) as connection:
                start = {**extent.starts, **read_offsets(connection, self._layout.topic)}
                topic.start(start)
                unread = {at for at, end in extent.ends.items() if start[at] < end}
                next_check = monotonic() + CHECK_SECONDS
                while not self.stopping.is_set():
                    self._loaded = self._loaded or not unread
                    arrived = topic.read()
                    self._store(connection, arrived)
                    unread -= {each.partition for each in arrived if isinstance(each, End)}
                    if arrived or not unread:
                        self.clear_trouble()
                    if monotonic() >= next_check:
                        next_check = monotonic() + CHECK_SECONDS
                        self._look_after(topic, extent)

    def _look_after(self, topic: Log, extent: Extent) -> None:
        if topic.read_ids() != extent.ids or self._damaged or not self._path.exists():
            self._loaded = self._damaged = False
            remove(self._path)
            raise Unusable(
                f"{self._layout.topic} was made anew, or {self._path} is damaged or gone"
            )

    def _open_file(self, extent: Extent) -> sqlite3.Connection:
        """The existing file; a new one if it is damaged, or of another topic or layout."""
        identity = f"{extent.ids[self._layout.topic]} {' '.join(self._layout.create)}"
        if self._path.exists():
            try:
                with reopening(self._path) as connection:
                    self._check(connection, identity, extent)
                    return connection
            except Unusable as error:
                log.warning("%s cannot be continued: %s", self._path, error)
        log.warning("%s: rebuilding from offset zero", self._layout.topic)
        self._loaded = False
        remove(self._path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return _create(self._path, identity, self._layout)

    def _check(self, connection: sqlite3.Connection, identity: str, extent: Extent) -> None:
        """Raise Unusable if the file is of another topic, layout or log."""
        require_table(connection, "source")
        if connection.execute("select identity from source").fetchall() != [(identity,)]:
            raise Unusable("it is of another topic or layout")
        if not _is_within(read_offsets(connection, self._layout.topic), extent):
            raise Unusable("its offsets are of another log")

    def _store(self, connection: sqlite3.Connection, arrived: Sequence[Record | End]) -> None:
        """Store the arrived records and the offsets they end at, in one transaction."""
        if not arrived:
            return
        ends: dict[Partition, int] = {}
        rows = []
        for each in arrived:
            if isinstance(each, End):
                ends[each.partition] = each.offset
                continue
            ends[each.partition] = each.offset + 1
            if (row := self._layout.row(each)) is not None:
                rows.append(row)
        connection.execute("begin immediate")
        connection.executemany(self._layout.insert, rows)
        connection.executemany(
            "insert or replace into reached values (?, ?)",
            [(partition, offset) for (_, partition), offset in ends.items()],
        )
        connection.execute("commit")


def read_offsets(connection: sqlite3.Connection, topic: str) -> Offsets:
    """Per partition, the offset of the first record that is not in the file."""
    rows = connection.execute("select partition, offset from reached order by partition")
    return {(topic, partition): offset for partition, offset in rows}


def _create(path: Path, identity: str, layout: Layout) -> sqlite3.Connection:
    connection = connect(path)
    connection.execute("begin immediate")
    for statement in (*layout.create, *PROGRESS):
        connection.execute(statement)
    connection.execute("insert into source values (?)", (identity,))
    connection.execute("commit")
    return connection


def _is_within(offsets: Offsets, extent: Extent) -> bool:
    return all(extent.starts[at] <= offset <= extent.ends[at] for at, offset in offsets.items())
