"""The views of one generation in one SQLite file, with one writer and many readers.

Each generation has a file of its own. The next generation loads in one large transaction without
delaying the commits of the served one, and a retired generation is a file to delete.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from infra.settings import Settings
from infra.sqlite import is_damage
from services.api.store.changes import LAYOUT as CHANGES_LAYOUT
from services.api.store.changes import Touched
from services.api.store.marker import Marker, parse_marker
from services.api.store.tables import Stored, Table
from services.api.turns import give_way

LAYOUT_VERSION = 2  # of the tables below; those of the views are part of the schema digest
CACHE_KIB_MAX = 32_768  # a transaction that needs more goes on in the WAL, on disk
WAL_KEPT_BYTES_MAX = 64 * 1024 * 1024

IDENTITY = "create table identity (name text primary key, value text not null) without rowid"
LAYOUT = (
    "create table progress (only integer primary key check (only = 1), marker text not null)",
    *CHANGES_LAYOUT,
)


class Unusable(Exception):
    """The file cannot be continued and has to be rebuilt; the message says why."""


class Database:
    """The writer. A transaction is open from the first row to the commit of its marker."""

    def __init__(self, path: Path, connection: sqlite3.Connection, tables: Iterable[Table]) -> None:
        self.path = path
        self._connection = connection
        self._tables = {table.view: table for table in tables}
        self._touched = Touched(self._tables)
        self._inode = path.stat().st_ino

    @classmethod
    def open(cls, path: Path, identity: Mapping[str, str], tables: Iterable[Table]) -> "Database":
        """Continue with the existing file. Raises Unusable if it does not fit.

        Raises sqlite3.DatabaseError if it cannot be read now.
        """
        statements = _list_statements(tables := tuple(tables))
        with reopening(path, {**identity, "schema": _digest(statements)}) as connection:
            return cls(path, connection, tables)

    @classmethod
    def create(cls, path: Path, identity: Mapping[str, str], tables: Iterable[Table]) -> "Database":
        """An empty database, in place of any existing file."""
        statements = _list_statements(tables := tuple(tables))
        connection = create_file(path, {**identity, "schema": _digest(statements)}, statements)
        return cls(path, connection, tables)

    def find_marker(self) -> Marker | None:
        """The committed marker, from whose offsets to continue; None before the first."""
        row = self._connection.execute("select marker from progress").fetchone()
        return parse_marker(row[0]) if row else None

    def apply(self, view: str, rows: Sequence[Stored]) -> None:
        """Write rows that precede the next marker. Readers see them after `commit`."""
        self._begin()
        self._touched.add(view, rows)
        self._connection.executemany(self._tables[view].upsert, give_way(rows))

    def commit(self, marker: Marker) -> None:
        """Commit rows, changes and the marker with its offsets in one transaction.

        It also deletes the rows whose retention is over.
        """
        self._begin()
        for table in self._tables.values():
            if table.prune:
                self._connection.execute(table.prune)
        self._touched.record(self._connection, marker)
        self._connection.execute(
            "insert or replace into progress values (1, ?)", (marker.to_json(),)
        )
        self._connection.execute("commit")

    def is_in_place(self) -> bool:
        """Whether the path still leads readers to the file that this writer writes."""
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Close the file and discard what is not committed."""
        self._connection.close()

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("begin immediate")


def locate_folder(settings: Settings) -> Path:
    """The folder of all databases."""
    return settings.data_dir / "api"


def locate_database(folder: Path, pipeline: str, number: int) -> Path:
    """The file of the views of one generation."""
    return folder / f"{pipeline}.g{number}.sqlite"


def remove(path: Path) -> None:
    """Delete a database and the files that SQLite keeps beside it."""
    for file in _list_files(path):
        file.unlink(missing_ok=True)


def _list_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "")]


def connect(path: Path) -> sqlite3.Connection:
    """The writer's connection to a file, which is created if it is missing."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # NORMAL: a power cut may lose the last commits, both rows and offsets; they are read again.
    for pragma in (
        "journal_mode = wal",
        "synchronous = normal",
        f"cache_size = -{CACHE_KIB_MAX}",
        f"journal_size_limit = {WAL_KEPT_BYTES_MAX}",
    ):
        connection.execute(f"pragma {pragma}")
    return connection


def create_file(
    path: Path, identity: Mapping[str, str], statements: Iterable[str]
) -> sqlite3.Connection:
    """The writer's connection to a new file, in place of any existing one."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(path)
    connection.execute("begin immediate")
    for statement in (IDENTITY, *statements):
        connection.execute(statement)
    connection.executemany("insert into identity values (?, ?)", identity.items())
    connection.execute("commit")
    return connection


@contextmanager
def reopening(path: Path, identity: Mapping[str, str]) -> Iterator[sqlite3.Connection]:
    """The writer's connection to an existing file; it stays open unless the block raises.

    Raises Unusable for a file that is damaged or of another identity. Another error of SQLite
    concerns the moment, not the file.
    """
    if not path.exists():
        raise Unusable("there is no database yet")
    try:
        with ExitStack() as opened:
            connection = opened.enter_context(closing(connect(path)))
            verdict = connection.execute("pragma quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise Unusable(f"the database is damaged: {verdict}")
            _check(connection, identity)
            yield connection
            opened.pop_all()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise Unusable(f"the database is damaged: {error}") from error
        raise


def _check(connection: sqlite3.Connection, wanted: Mapping[str, str]) -> None:
    """Raise Unusable if the file's creation was cut off, or it was made for something else."""
    named = "select 1 from sqlite_master where type = 'table' and name = 'identity'"
    if connection.execute(named).fetchone() is None:
        raise Unusable("the database has no table identity")
    identity = dict(connection.execute("select name, value from identity"))
    for name in sorted(wanted.keys() | identity.keys()):
        if identity.get(name) != wanted.get(name):
            raise Unusable(
                f"the database was made for {name} {identity.get(name, 'unnamed')}, "
                f"now it is {wanted.get(name, 'unnamed')}"
            )


def _list_statements(tables: Iterable[Table]) -> list[str]:
    return [*LAYOUT, *(sql for table in tables for sql in table.create)]


def _digest(statements: Iterable[str]) -> str:
    text = "\n".join([str(LAYOUT_VERSION), IDENTITY, *statements])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
