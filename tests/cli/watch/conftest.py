"""A small shop in memory, an API over it, and what the terminal asks it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.watch.client import Client
from cli.watch.feeds import Feeds
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def api(log: MemoryLog, tmp_path: Path) -> Iterator[Answers]:
    with serving(create_sources(log, tmp_path)) as answers:
        yield answers


class Moments:
    """A clock that a test moves on, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def moments() -> Moments:
    return Moments()


@pytest.fixture
def feeds(api: Answers, moments: Moments) -> Feeds:
    return Feeds(Client(api.address), moments)
