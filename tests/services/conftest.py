"""A log in memory, an API over it, and a lake with what a test puts there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.folder import Folder
from infra.lake import Folders
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, memory_sources, serving
from tests.services.silver import Silver
from tests.services.writing import Writing


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def inventory(log: MemoryLog) -> Writing:
    return Writing(log)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(Folder(str(tmp_path / "lake")))


@pytest.fixture
def silver(folders: Folders) -> Silver:
    return Silver(folders)


@pytest.fixture
def api(log: MemoryLog, tmp_path: Path) -> Iterator[Answers]:
    with serving(memory_sources(log, tmp_path)) as answers:
        yield answers
