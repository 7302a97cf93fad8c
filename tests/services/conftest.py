"""A log in memory, and an API over it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.memory import MemoryLog
from tests.services.serving import Answers, memory_sources, serving
from tests.services.writing import Writing


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def inventory(log: MemoryLog) -> Writing:
    return Writing(log)


@pytest.fixture
def api(log: MemoryLog, tmp_path: Path) -> Iterator[Answers]:
    with serving(memory_sources(log, tmp_path)) as answers:
        yield answers
