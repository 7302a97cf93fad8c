"""A topic kept whole in a SQLite file by one thread: of what no pipeline makes a view.

Rows and the offsets up to which they were read are one transaction, so that the thread may die
anywhere. A file that cannot be gone on with is made anew, from the beginning of the topic.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from time import monotonic

from infra.kafka import Partition
from services.api.background import Background
from services.api.changelog import End, Extent, Log, Record
from services.api.database import Unusable, connect, remove
from services.api.marker import Offsets
from services.api.materializer import OpenLog
from services.api.problems import Problem
from services.api.reading import decode
from services.api.tables import Stored, Table

CHECK_SECONDS = 1.0

PROGRESS = (
    "create table source (identity text not null)",
    "create table reached (partition integer primary key, offset integer not null)",
)

log = logging.getLogger("api.copying")


@dataclass(frozen=True)
class Layout:
    """How a topic's records are kept; another layout is another file."""

    topic: str
    create: tuple[str, ...]
    insert: str
    """Says what becomes of a row that is there already."""
    row: Callable[[Record], Stored | None]
    """None: the record is not kept."""


def of_rows(table: Table, again: str, *indexes: str) -> Layout:
    """Every record as a row of the table, with these indexes.

    Again: what becomes of a row whose key is there already, `ignore` (the first one stays) or
    `replace`.
    """
    places = ", ".join("?" for _ in table.columns)

    def row(record: Record) -> Stored | None:
        return None if record.value is None else table.stored(decode(record.value).value)

    return Layout(
        topic=table.contract.name,
        create=(*table.create, *indexes),
        insert=f"insert or {again} into {table.name} values ({places})",
        row=row,
    )


class Copy(Background):
    """The thread, the only writer of its file, and what to read from."""

    def __init__(self, layout: Layout, path: Path, open_log: OpenLog) -> None:
        super().__init__(layout.topic, trouble="it is being read")
        self._layout = layout
        self._path = path
        self._open_log = open_log
        self._loaded = False  # whether the file has once held all that the topic did
        self._damaged = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One transaction: rows and offsets of one moment; raises Problem before it is loaded."""
        if not self._loaded:
            why = self.trouble or "it is being read"
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Topic being loaded",
                f"Expected {self._layout.topic} read to its end, but: {why}. "
                "Try again in a second.",
                headers={"Retry-After": "1"},
            )
        address = f"{self._path.as_uri()}?mode=ro"
        try:
            # Opened anew each time: a tenth of a millisecond, and nothing to look after.
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
                connection.execute("begin")
                yield connection
        except sqlite3.DatabaseError as error:
            # The subclasses speak of the statement or the moment, the class itself of the file.
            self._damaged |= type(error) is sqlite3.DatabaseError
            raise

    def turn(self) -> None:
        with self._open_log([self._layout.topic]) as topic:
            extent = topic.extent()
            with closing(self._opened(extent)) as connection:
                start = {**extent.starts, **reached(connection, self._layout.topic)}
                topic.start(start)
                unread = {at for at, end in extent.ends.items() if start[at] < end}
                next_check = monotonic() + CHECK_SECONDS
                while not self.stopping.is_set():
                    self._loaded = self._loaded or not unread
                    self.well()
                    arrived = topic.read()
                    self._take(connection, arrived)
                    unread -= {each.partition for each in arrived if isinstance(each, End)}
                    if monotonic() >= next_check:
                        next_check = monotonic() + CHECK_SECONDS
                        self._look_after(topic, extent)

    def _look_after(self, topic: Log, extent: Extent) -> None:
        if topic.ids() != extent.ids or self._damaged or not self._path.exists():
            self._loaded = self._damaged = False
            remove(self._path)
            raise Unusable(
                f"{self._layout.topic} was made anew, or {self._path} is damaged or gone"
            )

    def _opened(self, extent: Extent) -> sqlite3.Connection:
        """The file there is, or a new one where that is of another topic or layout, or damaged."""
        identity = f"{extent.ids[self._layout.topic]} {' '.join(self._layout.create)}"
        if self._path.exists():
            try:
                connection = connect(self._path)
                [[found]] = connection.execute("select identity from source").fetchall()
                if found == identity and _within(reached(connection, self._layout.topic), extent):
                    return connection
                connection.close()
            except (sqlite3.DatabaseError, ValueError) as error:
                log.warning("%s cannot be gone on with: %s", self._path, error)
        log.warning("%s: rebuilding from offset zero", self._layout.topic)
        self._loaded = False
        remove(self._path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return _created(self._path, identity, self._layout)

    def _take(self, connection: sqlite3.Connection, arrived: Sequence[Record | End]) -> None:
        """What has arrived, with where it ends, as one transaction."""
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


def reached(connection: sqlite3.Connection, topic: str) -> Offsets:
    """The offset of the first record of each partition that is not in the file."""
    found = connection.execute("select partition, offset from reached order by partition")
    return {(topic, partition): offset for partition, offset in found}


def _created(path: Path, identity: str, layout: Layout) -> sqlite3.Connection:
    connection = connect(path)
    connection.execute("begin immediate")
    for statement in (*layout.create, *PROGRESS):
        connection.execute(statement)
    connection.execute("insert into source values (?)", (identity,))
    connection.execute("commit")
    return connection


def _within(offsets: Offsets, extent: Extent) -> bool:
    return all(extent.starts[at] <= offset <= extent.ends[at] for at, offset in offsets.items())
