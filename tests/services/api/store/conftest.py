from pathlib import Path

import pytest

from services.api.store.database import Database
from tests.services.api.store.databases import STOCK, create, create_marker
from tests.services.writing import create_shelf


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
