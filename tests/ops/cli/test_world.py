"""Options for the world: they follow the settings."""

import pytest
from typer.testing import CliRunner

from infra.errors import UserError
from infra.settings import Settings
from infra.settings import read_settings as read
from ops.cli import up
from ops.cli.main import build_application
from ops.cli.world import build_options, list_world_settings


def test_every_setting_of_the_simulator_has_its_option() -> None:
    assert [one.name for one in build_options()] == [
        name.removeprefix("simulator_")
        for name in Settings.model_fields
        if name.startswith("simulator_")
    ]
    printed = CliRunner().invoke(build_application(), ["up", "--help"], terminal_width=200).output
    assert all(f"--{one.name.replace('_', '-')} " in printed for one in build_options())


def test_an_option_wins_over_the_environment(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Settings] = []

    def check(settings: Settings) -> None:
        seen.append(settings)
        raise UserError("enough")

    for name in list_world_settings():
        monkeypatch.setenv(name.upper(), "")  # so that all of them are put back
    monkeypatch.setenv("SIMULATOR_SEED", "4")
    monkeypatch.setattr(up, "check", check)
    read.cache_clear()
    try:
        CliRunner().invoke(build_application(), ["up", "--seed", "7", "--dirt", "0.1"])
    finally:
        read.cache_clear()
    assert (seen[0].simulator_seed, seen[0].simulator_dirt) == (7, 0.1)
    assert seen[0].simulator_stores == current.simulator_stores
