"""The program whose commands the API runs."""

import pytest

from services.api.app import RETAIL
from services.api.commands import CommandFailed, Commands


def create_commands() -> Commands:
    return Commands(RETAIL, lambda: "a token")


def test_it_is_the_command_line_that_is_installed() -> None:
    output = create_commands().run("replay", "--help")
    for name in ("diff", "promote", "rollback", "prune"):
        assert name in output


def test_what_it_does_not_know_it_says() -> None:
    with pytest.raises(CommandFailed, match="No such command"):
        create_commands().run("replay", "guess")
