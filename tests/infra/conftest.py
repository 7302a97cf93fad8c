"""Every test of this room starts without the settings of whoever runs it."""

from collections.abc import Iterator

import pytest

from infra.settings import Settings, settings


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting in the environment; the jars alone may lie where they are."""
    for name in set(Settings.model_fields) - {"jars_dir"}:
        monkeypatch.delenv(name.upper(), raising=False)
    settings.cache_clear()
    yield
    settings.cache_clear()
