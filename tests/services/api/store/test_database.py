"""The file: what is committed stays, what is not has never been there; what goes in comes out."""

import json
import sqlite3
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import STORE_SALES
from contracts.times import to_epoch_ms
from services.api.store import changes
from services.api.store.database import Database
from services.api.store.snapshots import CONNECTIONS_KEPT_MAX as KEPT
from services.api.store.snapshots import Snapshots
from services.api.store.tables import Table
from services.times import to_ms
from tests.services.api.store.databases import (
    IDENTITY,
    STOCK,
    UNITS,
    create_marker,
    read_units,
    reopen,
)
from tests.services.writing import MORNING, create_shelf

MINUTE = timedelta(minutes=1)


def test_the_same_version_again_is_applied_and_an_older_one_is_not(
    path: Path, database: Database
) -> None:
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=6, version=3))])
    database.apply(STOCK.view, [STOCK.to_stored(create_shelf(1, "A", units=9, version=2))])
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
            assert snapshot.find_oldest_ms(table) == max(times) - to_ms(retention)
        return [(time - to_epoch_ms(MORNING)) // to_ms(MINUTE) for time in times]

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


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("readers", [KEPT - 1, KEPT, KEPT + 1, 10 * KEPT])
def test_any_number_reads_at_once_and_few_connections_are_kept(path: Path, readers: int) -> None:
    pool = Snapshots(path)
    with ExitStack() as reading:
        snapshots = [reading.enter_context(pool.open()) for _ in range(readers)]
        assert [snapshot.select(UNITS).fetchall() for snapshot in snapshots] == [[(5,)]] * readers
    assert len(pool._idle) == min(readers, KEPT)


def test_a_row_is_read_at_its_marker(path: Path, database: Database) -> None:
    snapshots = Snapshots(path)
    first = STOCK.to_stored(create_shelf(1, "A", units=5, version=3))
    key = STOCK.get_key(first)
    assert snapshots.read_row(STOCK, key) == (create_marker(0), first)
    second = STOCK.to_stored(create_shelf(1, "A", units=4, version=4))
    database.apply(STOCK.view, [second])
    assert snapshots.read_row(STOCK, key) == (create_marker(0), first), "not before its commit"
    database.commit(create_marker(1))
    assert snapshots.read_row(STOCK, key) == (create_marker(1), second)
    absent = STOCK.get_key(STOCK.to_stored(create_shelf(1, "B", units=5)))
    assert snapshots.read_row(STOCK, absent) == (create_marker(1), None)
