"""A log in memory, an API over it, and a lake with what a test puts there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.folder import Folder
from infra.lake import Folders
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.silver import Silver
from tests.services.writing import Writing, promote


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def inventory(log: MemoryLog) -> Writing:
    return Writing(log)


@pytest.fixture
def empty(log: MemoryLog, inventory: Writing) -> Writing:
    """Generation 1 of inventory, promoted: batch 0 has no row."""
    promote(log, inventory)
    inventory.mark()
    return inventory


@pytest.fixture
def stocked(inventory: Writing) -> Writing:
    """Generation 1 of inventory after batch 0: 4 of A in store 1, and no input read."""
    inventory.row(1, "A", 4)
    inventory.mark()
    return inventory


@pytest.fixture
def promoted(log: MemoryLog, stocked: Writing) -> Writing:
    """`stocked`, for readers to follow."""
    promote(log, stocked)
    return stocked


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(Folder(str(tmp_path / "lake")))


@pytest.fixture
def silver(folders: Folders) -> Silver:
    return Silver(folders)


@pytest.fixture
def api(log: MemoryLog, tmp_path: Path) -> Iterator[Answers]:
    with serving(create_sources(log, tmp_path)) as answers:
        yield answers


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """An API without anything to answer from, for what needs nothing."""
    with serving(create_sources(MemoryLog(), tmp_path_factory.mktemp("api"))) as answers:
        yield answers


@pytest.fixture
def shelves(promoted: Writing, api: Answers) -> Answers:
    """The API, once it serves `promoted`."""
    return api.ready()
