"""The file: what is committed stays, what is not has never been there."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import STOCK_LEVELS, STORE_SALES
from contracts.times import epoch_ms
from infra.settings import root
from services.api.store import changes
from services.api.store.database import Database, Unusable, read_marker
from services.api.store.marker import Marker
from services.api.store.snapshots import CONNECTIONS_KEPT_MAX, Snapshots
from services.api.store.tables import Table
from services.times import in_ms
from tests.services.writing import MORNING, create_shelf

STOCK = Table(STOCK_LEVELS)
MINUTE = timedelta(minutes=1)
UNITS = f"select units_on_hand from {STOCK.name}"
IDENTITY = {"generation": "inventory g1", "topic stock": "id1"}


def create_marker(batch: int) -> Marker:
    return Marker("inventory", 1, batch, {}, {("stock", 0): batch}, 0, batch)


def create(path: Path) -> Database:
    return Database.create(path, IDENTITY, [STOCK])


def reopen(path: Path) -> Database:
    return Database.open(path, IDENTITY, [STOCK])


def read_units(path: Path) -> list[int]:
    with Snapshots(path).open() as snapshot:
        return [row[0] for row in snapshot.select(UNITS)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inventory.g1.sqlite"


@pytest.fixture
def database(path: Path) -> Database:
    """One shelf with 5 units, committed with the marker of batch 0."""
    made = create(path)
    made.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=5, version=3))])
    made.commit(create_marker(0))
    return made


def test_rows_and_marker_appear_together(path: Path, database: Database) -> None:
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=4, version=4))])
    assert read_units(path) == [5]
    database.commit(create_marker(1))
    assert read_units(path) == [4]
    assert read_marker(path) == create_marker(1)


def test_an_older_version_does_not_overwrite_a_newer_one(path: Path, database: Database) -> None:
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=9, version=2))])
    database.commit(create_marker(1))
    assert read_units(path) == [5]


def test_the_same_version_again_is_applied(path: Path, database: Database) -> None:
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=6, version=3))])
    database.commit(create_marker(1))
    assert read_units(path) == [6]


def test_a_commit_that_fails_half_way_leaves_the_marker_before(
    path: Path, database: Database
) -> None:
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=1, version=9))])
    with pytest.raises(sqlite3.IntegrityError):
        database.apply(STOCK.view, [(None,) * len(STOCK.columns)])
    database.close()
    assert reopen(path).find_marker() == create_marker(0)
    assert read_units(path) == [5]


def test_a_snapshot_stays_at_its_marker_however_long_one_looks(
    path: Path, database: Database
) -> None:
    with Snapshots(path).open() as snapshot:
        database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=4, version=4))])
        database.commit(create_marker(1))
        assert snapshot.marker == create_marker(0)
        assert snapshot.select(UNITS).fetchone() == (5,)


def lose(path: Path) -> None:
    path.unlink()


def scribble(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 400)


def scribble_inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def change_layout(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("update identity set value = 'older' where name = 'schema'")


def exchange_topic(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("update identity set value = 'id0' where name = 'topic stock'")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (lose, "there is no database yet"),
        (scribble, "the database is damaged"),
        (scribble_inside, "the database is damaged"),
        (change_layout, "made for schema older"),
        (exchange_topic, "made for topic stock id0, now it is id1"),
    ],
)
def test_a_file_that_cannot_be_gone_on_with_says_why_and_can_be_made_anew(
    path: Path, database: Database, harm: Callable[[Path], None], reason: str
) -> None:
    database.close()
    harm(path)
    with pytest.raises(Unusable, match=reason):
        reopen(path)
    assert create(path).find_marker() is None
    assert reopen(path).find_marker() is None


def test_a_file_that_was_removed_or_exchanged_is_noticed(path: Path, database: Database) -> None:
    assert database.is_in_place()
    path.rename(path.with_suffix(".away"))
    assert not database.is_in_place()
    scribble(path)
    assert not database.is_in_place()


def test_a_reader_that_finds_the_file_damaged_says_so(path: Path, database: Database) -> None:
    database.close()
    scribble(path)
    snapshots = Snapshots(path)
    with pytest.raises(sqlite3.DatabaseError), snapshots.open():
        pass
    assert snapshots.damaged


OPEN_TRANSACTION = """
import sys
from pathlib import Path
from contracts import STOCK_LEVELS
from services.api.store import database as module
from services.api.store.database import Database
from services.api.store.tables import Table
from tests.services.api.store.test_database import IDENTITY
from tests.services.writing import create_shelf

module.CACHE_KIB_MAX = 64  # so that rows reach the disk before they are committed
stock = Table(STOCK_LEVELS)
database = Database.open(Path(sys.argv[1]), IDENTITY, [stock])
rows = [stock.to_stored(create_shelf(1, f"SKU-{n}", 1)) for n in range(5_000)]
database.apply(stock.view, rows)
print("applied", flush=True)
sys.stdin.read()
"""


def test_kill_9_in_the_middle_of_a_commit_leaves_the_marker_before(
    path: Path, database: Database
) -> None:
    database.close()
    command = [sys.executable, "-c", OPEN_TRANSACTION, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=root(), stdin=pipe, stdout=pipe, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "applied\n"
        writer.send_signal(signal.SIGKILL)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    reopened = reopen(path)
    assert reopened.find_marker() == create_marker(0)
    assert read_units(path) == [5]


def create_sales(minute: int, store: str = "S001") -> dict[str, Any]:
    start = MORNING + timedelta(minutes=minute)
    changes = {"store_id": store, "window_start": start, "window_end": start + MINUTE}
    return {**STORE_SALES.examples[0], **changes}


def test_rows_whose_retention_is_over_are_gone_with_the_next_commit(path: Path) -> None:
    table = Table(STORE_SALES)
    retention = STORE_SALES.retention
    assert retention is not None
    over = retention // MINUTE
    made = Database.create(path, IDENTITY, [table])
    starts = f"select window_start from {table.name} order by window_start"

    def list_kept(*minutes: int) -> list[int]:
        made.apply(table.view, [table.to_stored(create_sales(minute)) for minute in minutes])
        made.commit(create_marker(0))
        with Snapshots(path).open() as snapshot:
            times = [row[0] for row in snapshot.select(starts)]
            assert snapshot.find_oldest_ms(table) == max(times) - in_ms(retention)
        return [(time - epoch_ms(MORNING)) // in_ms(MINUTE) for time in times]

    assert list_kept(0, 1) == [0, 1]
    assert list_kept(over) == [0, 1, over]
    assert list_kept(over + 1) == [1, over, over + 1]
    assert list_kept(0) == [1, over, over + 1]  # what comes so late does not come back


def test_a_row_that_is_gone_at_once_is_no_change(path: Path) -> None:
    table = Table(STORE_SALES)
    made = Database.create(path, IDENTITY, [table])
    made.apply(table.view, [table.to_stored(create_sales(minute)) for minute in (0, 10**5)])
    made.commit(create_marker(0))
    with Snapshots(path).open() as snapshot:
        change = changes.find_next(snapshot, table.view, 0)
    assert change is not None
    assert [row["window_start"] for row in json.loads(change.rows or "")] == [
        table.to_json(table.to_stored(create_sales(10**5)))["window_start"]
    ]


KEPT = CONNECTIONS_KEPT_MAX


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("readers", [KEPT - 1, KEPT, KEPT + 1, 10 * KEPT])
@pytest.mark.crosses("services/api/store/snapshots/CONNECTIONS_KEPT_MAX")
def test_any_number_reads_at_once_and_few_connections_are_kept(path: Path, readers: int) -> None:
    pool = Snapshots(path)
    with ExitStack() as reading:
        snapshots = [reading.enter_context(pool.open()) for _ in range(readers)]
        assert [one.select(UNITS).fetchall() for one in snapshots] == [[(5,)]] * readers
    assert len(pool._idle) == min(readers, KEPT)
