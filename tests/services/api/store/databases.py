"""A database of stock, and what it holds."""

from pathlib import Path

from contracts import STOCK_LEVELS
from services.api.store.database import Database
from services.api.store.marker import Marker
from services.api.store.snapshots import Snapshots
from services.api.store.tables import Table

STOCK = Table(STOCK_LEVELS)
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
