"""Removes the settings from the environment of a test."""

from collections.abc import Iterator

import pytest

from infra.settings import Settings, read_settings


def unset_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting in the environment; the jars alone may lie where they are."""
    for name in set(Settings.model_fields) - {"jars_dir"}:
        monkeypatch.delenv(name.upper(), raising=False)
    read_settings.cache_clear()
    yield
    read_settings.cache_clear()
