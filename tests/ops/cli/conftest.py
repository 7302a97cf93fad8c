"""A data folder for the commands, without the settings of the environment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.settings import Settings, read_settings, remember
from tests.unset import unset_settings


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from unset_settings(monkeypatch)


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    """The settings of a data folder that has been started before."""
    home = tmp_path / "data"
    monkeypatch.setenv("DATA_DIR", str(home))
    remember(Settings(data_dir=home))
    (home / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    return read_settings()
