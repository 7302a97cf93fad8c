"""A mirror: every record of a topic without a view, in a SQLite file.

One transaction holds rows and the offsets they end at, so the thread may die anywhere. A
file that cannot be continued is rebuilt from the beginning of the topic.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Literal

from contracts import Row, get_contract
from infra.kafka import Offsets, Partition
from infra.sqlite import is_damage
from services.api.problem import Unavailable
from services.api.store.background import Background
from services.api.store.changelog import Changelog, End, Extent, Record, follow, read_row
from services.api.store.database import Unusable, create_file, remove, reopening
from services.api.store.materializer import OpenLog
from services.api.store.tables import Stored, Table

CHECK_SECONDS = 1.0
LOADING = "it is being read"

REACHED = "create table reached (partition integer primary key, offset integer not null)"

log = logging.getLogger("api.mirror")


@dataclass(frozen=True)
class Layout:
    """The storage of a topic: a row for each good record. A changed layout makes a new file."""

    table: Table
    file: str
    on_conflict: Literal["ignore", "replace"]
    """`ignore` keeps the first row of a key, `replace` the last."""
    newest_first: tuple[str, ...] = ()
    """The columns of the topic's list, in which no two rows are equal."""
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns by the name of their index; in that named `unique` no two rows are equal."""
    extend: Callable[[Record, Row], Row | None] = lambda _, value: value
    """The value with what the record says beside it; None where the record is not stored."""

    @property
    def topic(self) -> str:
        return self.table.contract.name

    @property
    def create(self) -> tuple[str, ...]:
        return (
            *self.table.create,
            *(
                f'create {"unique " if name == "unique" else ""}index "{name} of rows" '
                f"on {self.table.name} ({', '.join(columns)})"
                for name, columns in self.indexes.items()
            ),
        )

    @property
    def insert(self) -> str:
        places = ", ".join("?" for _ in self.table.columns)
        return f"insert or {self.on_conflict} into {self.table.name} values ({places})"

    def build_row(self, record: Record) -> Stored | None:
        """The stored row of a record; None where the record is not stored."""
        value = read_row(get_contract(self.topic), record)
        whole = None if value is None else self.extend(record, value)
        return None if whole is None else self.table.to_stored(whole)


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
        """One transaction: rows and offsets of one moment. Raises Unavailable before its load."""
        if not self._loaded:
            raise Unavailable(
                "Topic being loaded",
                f"Expected {self._layout.topic} read to its end, but: {self.trouble or LOADING}. "
                "Try again in a second.",
            )
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
                next_check = monotonic() + CHECK_SECONDS
                for arrived, is_whole in follow(topic, extent, start, self.stopping.is_set):
                    self._store(connection, arrived)
                    self._loaded = self._loaded or is_whole
                    if arrived or is_whole:
                        self.clear_trouble()
                    if monotonic() >= next_check:
                        next_check = monotonic() + CHECK_SECONDS
                        self._look_after(topic, extent)

    def _look_after(self, topic: Changelog, extent: Extent) -> None:
        if topic.read_ids() != extent.ids or self._damaged or not self._path.exists():
            self._loaded = self._damaged = False
            remove(self._path)
            raise Unusable(
                f"{self._layout.topic} was made anew, or {self._path} is damaged or gone"
            )

    def _open_file(self, extent: Extent) -> sqlite3.Connection:
        """The existing file; a new one if it is damaged, or of another topic, layout or log."""
        statements = (*self._layout.create, REACHED)
        identity = {
            "topic": f"{self._layout.topic} {extent.ids[self._layout.topic]}",
            "layout": " ".join(statements),
        }
        try:
            with reopening(self._path, identity) as connection:
                offsets = read_offsets(connection, self._layout.topic).items()
                if not all(
                    extent.starts[partition] <= to <= extent.ends[partition]
                    for partition, to in offsets
                ):
                    raise Unusable("its offsets are of another log")
                return connection
        except Unusable as reason:
            log.warning("%s: rebuilding from offset zero: %s", self._layout.topic, reason)
        self._loaded = False
        return create_file(self._path, identity, statements)

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
            if (row := self._layout.build_row(each)) is not None:
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
