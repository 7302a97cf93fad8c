"""Every test of this room starts without the settings of the environment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.settings import Settings
from tests.unset import unset_settings


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from unset_settings(monkeypatch)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)
