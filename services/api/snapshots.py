"""Reading a view's database: every answer out of one read transaction, so at one marker."""

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.api.marker import Marker, from_json
from services.api.tables import Table

CONNECTIONS_KEPT_MAX = 16
CACHE_KIB_MAX = 4_096

Rows = sqlite3.Cursor


@dataclass(frozen=True)
class Snapshot:
    """The views as they were at the marker, however long one looks."""

    marker: Marker
    _connection: sqlite3.Connection

    def oldest_kept(self, table: Table) -> int | None:
        """The earliest time of which the view keeps rows, in epoch ms; None where it keeps all."""
        if table.oldest is None:
            return None
        oldest_ms: int | None = self.rows(table.oldest).fetchone()[0]
        return oldest_ms

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> Rows:
        return self._connection.execute(sql, parameters)


class Snapshots:
    """Read-only connections to one file, used by one thread at a time each and kept for the next.

    `damaged` turns true when SQLite finds the file broken; the materializer then looks into it.
    """

    def __init__(self, path: Path) -> None:
        self.damaged = False
        self._address = f"{path.as_uri()}?mode=ro"
        self._idle: deque[sqlite3.Connection] = deque()  # its ends are safe between threads
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        try:
            with self._connection() as connection:
                connection.execute("begin")
                text = connection.execute("select marker from progress").fetchone()[0]
                yield Snapshot(from_json(text), connection)
        except sqlite3.DatabaseError as error:
            # The subclasses speak of the statement or the moment, the class itself of the file.
            self.damaged |= type(error) is sqlite3.DatabaseError
            raise

    def close(self) -> None:
        """Close what is idle now, and what is in use when it is given back."""
        self._closed = True
        while self._idle:
            self._take().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address, uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"pragma cache_size = -{CACHE_KIB_MAX}")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("rollback")
        if self._closed or self.damaged or len(self._idle) >= CONNECTIONS_KEPT_MAX:
            connection.close()
        else:
            self._idle.append(connection)
