"""One row and its marker, in one statement."""

from pathlib import Path

from services.api.store.database import Database
from services.api.store.snapshots import Snapshots
from tests.services.api.store.databases import STOCK, create_marker
from tests.services.writing import create_shelf


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


def test_a_row_that_is_not_there_is_none_at_a_marker(path: Path, database: Database) -> None:
    absent = STOCK.get_key(STOCK.to_stored(create_shelf(1, "B", units=5)))
    assert Snapshots(path).read_row(STOCK, absent) == (create_marker(0), None)
