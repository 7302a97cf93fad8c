"""Reads a view's database: one transaction per answer, and so one marker."""

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.sqlite import is_damage
from services.api.store.marker import Marker, parse_marker
from services.api.store.tables import Stored, Table

CONNECTIONS_KEPT_MAX = 16
CACHE_KIB_MAX = 4_096

Rows = sqlite3.Cursor


@dataclass(frozen=True)
class Snapshot:
    """The views at one marker, while the transaction is open."""

    marker: Marker
    _connection: sqlite3.Connection

    def find_oldest_ms(self, table: Table) -> int | None:
        """The earliest time that the view keeps, in epoch ms; None where it keeps all rows."""
        if table.oldest is None:
            return None
        oldest_ms: int | None = self.select(table.oldest).fetchone()[0]
        return oldest_ms

    def select(self, sql: str, parameters: tuple[Any, ...] = ()) -> Rows:
        return self._connection.execute(sql, parameters)


class Snapshots:
    """A pool of read-only connections to one file; one thread at a time uses a connection.

    `damaged` becomes true when SQLite finds the file broken; the materializer then rebuilds it.
    """

    def __init__(self, path: Path) -> None:
        self.damaged = False
        self._address = f"{path.as_uri()}?mode=ro"
        self._idle: deque[sqlite3.Connection] = deque()  # appending and popping are thread-safe
        self._closed = False

    @contextmanager
    def open(self) -> Iterator[Snapshot]:
        with self._borrow() as connection:
            connection.execute("begin")
            text = connection.execute("select marker from progress").fetchone()[0]
            yield Snapshot(parse_marker(text), connection)

    def read_row(self, table: Table, key: tuple[Any, ...]) -> tuple[Marker, Stored | None]:
        """The marker, and the row under the key at this marker; None where there is none.

        One statement instead of the several of a transaction, because each gives Python's lock
        away and then waits for it behind the threads that write.
        """
        with self._borrow() as connection:
            [(text, *row)] = connection.execute(table.select_marked, key).fetchall()
        stored = tuple(row)
        return parse_marker(text), None if None in table.get_key(stored) else stored

    def close(self) -> None:
        """Close idle connections now, and those in use when they are returned."""
        self._closed = True
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle.pop().close()

    @contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._return(connection)
        except sqlite3.DatabaseError as error:
            self.damaged |= is_damage(error)
            raise

    def _take(self) -> sqlite3.Connection:
        with suppress(IndexError):
            return self._idle.pop()
        connection = sqlite3.connect(
            self._address, uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"pragma cache_size = -{CACHE_KIB_MAX}")
        return connection

    def _return(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("rollback")
        if self._closed or self.damaged or len(self._idle) >= CONNECTIONS_KEPT_MAX:
            connection.close()
        else:
            self._idle.append(connection)
