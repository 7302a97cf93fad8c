"""Every test of this room starts without the settings of the environment."""

from collections.abc import Iterator

import pytest

from tests.unset import unset_settings


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from unset_settings(monkeypatch)
