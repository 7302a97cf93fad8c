"""The quarantine in one SQLite file, which one thread keeps as the topic is.

Rows and the offsets up to which they were read are one transaction, so that the thread may die
anywhere. A file that cannot be gone on with is made anew, from the beginning of the topic.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from contracts import QUARANTINE, decode
from infra.kafka import Partition
from services.api.changelog import End, Extent, Log, Record
from services.api.database import Unusable, remove
from services.api.tables import Table

CACHE_KIB_MAX = 4_096
CHECK_READS = 20  # an empty read takes a tenth of a second
RETRY_SECONDS = 1.0
LAYOUT_VERSION = 1

TABLE = Table(QUARANTINE)
NEWEST_FIRST = ("published_at", *QUARANTINE.key)

log = logging.getLogger("api.rejections")

OpenLog = Callable[[Iterable[str]], AbstractContextManager[Log]]
Offsets = Mapping[Partition, int]


class Rejections:
    """The thread, and what to read from."""

    def __init__(self, path: Path, open_log: OpenLog) -> None:
        self.path = path
        self.loaded = False  # whether there is a file to read from
        self.trouble: str | None = "the quarantine has not been read yet"
        self._damaged = False
        self._open_log = open_log
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rejections", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def alive(self) -> bool:
        return self._thread.is_alive()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One transaction: rows and offsets of one moment."""
        address = f"{self.path.as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
                connection.execute("begin")
                yield connection
        except sqlite3.DatabaseError as error:
            # The subclasses speak of the statement or the moment, the class itself of the file.
            self._damaged |= type(error) is sqlite3.DatabaseError
            raise

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except Exception as error:
                self.trouble = str(error)
                log.warning("%s; going on in %.1f s", error, RETRY_SECONDS)
                log.debug("quarantine", exc_info=True)
                self._stop.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        with self._open_log([QUARANTINE.name]) as topic:
            extent = topic.extent()
            with closing(self._opened(extent)) as connection:
                topic.start({**extent.starts, **read_offsets(connection)})
                self.loaded = True
                while not self._stop.is_set():
                    self._look_after(topic, extent)
                    for _ in range(CHECK_READS):
                        take(connection, topic.read())
                        if self._stop.is_set():
                            break
                    self.trouble = None

    def _look_after(self, topic: Log, extent: Extent) -> None:
        if topic.ids() != extent.ids or self._damaged or not self.path.exists():
            self.loaded = self._damaged = False
            remove(self.path)
            raise Unusable(f"{QUARANTINE.name} was made anew, or {self.path} is damaged or gone")

    def _opened(self, extent: Extent) -> sqlite3.Connection:
        """The file there is, or a new one where that is of another topic or damaged."""
        identity = f"{LAYOUT_VERSION} {extent.ids[QUARANTINE.name]} {' '.join(TABLE.create)}"
        if self.path.exists():
            try:
                connection = connected(self.path)
                [[found]] = connection.execute("select identity from source").fetchall()
                if found == identity and within(read_offsets(connection), extent):
                    return connection
                connection.close()
            except (sqlite3.DatabaseError, ValueError) as error:
                log.warning("made anew: %s", error)
        self.loaded = False
        remove(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return created(self.path, identity)


def created(path: Path, identity: str) -> sqlite3.Connection:
    connection = connected(path)
    connection.execute("begin immediate")
    for statement in (
        *TABLE.create,
        f"create index newest on {TABLE.name} ({', '.join(NEWEST_FIRST)})",
        f"create index counts on {TABLE.name} (topic, reason, published_at)",
        "create table source (identity text not null)",
        "create table reached (partition integer primary key, offset integer not null)",
    ):
        connection.execute(statement)
    connection.execute("insert into source values (?)", (identity,))
    connection.execute("commit")
    return connection


def connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode = wal", "synchronous = normal", f"cache_size = -{CACHE_KIB_MAX}"):
        connection.execute(f"pragma {pragma}")
    return connection


def read_offsets(connection: sqlite3.Connection) -> dict[Partition, int]:
    found = connection.execute("select partition, offset from reached order by partition")
    return {(QUARANTINE.name, partition): offset for partition, offset in found}


def within(offsets: Offsets, extent: Extent) -> bool:
    return all(extent.starts[at] <= offset <= extent.ends[at] for at, offset in offsets.items())


def take(connection: sqlite3.Connection, arrived: Sequence[Record | End]) -> None:
    """What has arrived, with where it ends, as one transaction."""
    if not arrived:
        return
    reached: dict[Partition, int] = {}
    rows = []
    for each in arrived:
        if isinstance(each, End):
            reached[each.partition] = each.offset
            continue
        reached[each.partition] = each.offset + 1
        if each.value is not None:
            rows.append(TABLE.stored(decode(each.value).value))
    places = ", ".join("?" for _ in TABLE.columns)
    connection.execute("begin immediate")
    connection.executemany(f"insert or replace into {TABLE.name} values ({places})", rows)
    connection.executemany(
        "insert or replace into reached values (?, ?)",
        [(partition, offset) for (_, partition), offset in reached.items()],
    )
    connection.execute("commit")
