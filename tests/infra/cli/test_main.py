"""The command line itself."""

import sys

import pytest
from typer.testing import CliRunner

from infra.cli.main import application, main
from infra.settings import Settings

VERBS = (
    "up",
    "backfill",
    "down",
    "status",
    "logs",
    "reset",
    "doctor",
    "topics",
    "load",
    "contracts",
    "quarantine",
    "verify",
)


def test_help_names_every_verb() -> None:
    shown = CliRunner().invoke(application(), ["--help"]).output
    assert all(f" {verb} " in shown for verb in VERBS)


def test_trouble_is_said_without_a_traceback(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["retail", "logs", "till"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == (
        "There is no component till. There are: broker, simulator, quarantine, pipelines, api"
    )
