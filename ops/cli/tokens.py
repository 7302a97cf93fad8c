"""retail token list | add | remove | curl: the tokens for the API of a secure shop."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.security.tokens import DAYS, Role, add_token, list_tokens, locate_token, remove_token
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.credentials import write_curl_settings
from services.clock import get_wall_ms
from services.times import render_instant

DAYS_MAX = 3_650

app = typer.Typer(no_args_is_help=True, help="With SECURE=on: tokens for the API.")

Name = Annotated[str, typer.Argument(help="The token's name; the audit records it as the caller.")]


class NotSecure(UserError):
    """The shop is not secure, so its API knows no such tokens."""

    def __init__(self) -> None:
        super().__init__(
            "This shop's API has only the token for actions, because SECURE is off. Begin a "
            "secure shop in an empty data folder: make up SECURE=on"
        )


@app.command("list")
def list_command() -> None:
    """Show name, role, expiry and file of every token."""
    current = _read_secure()
    screen.print_table(
        ("token", "role", "valid until", "file"),
        (
            (
                one.name,
                one.role.value,
                render_instant(one.expires_at_ms)
                + (" (over)" if one.is_expired(get_wall_ms()) else ""),
                screen.shorten(locate_token(current, one.name)),
            )
            for one in list_tokens(current)
        ),
    )


@app.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What it permits; an operator may do everything.")],
    days: Annotated[
        int | None,
        typer.Option(min=1, max=DAYS_MAX, help="Days until it expires; unset: 30."),
    ] = None,
) -> None:
    """Draw a token and show its file; it replaces an earlier token of this name."""
    current = _read_secure()
    token = add_token(current, name, role, get_wall_ms(), days or DAYS)
    screen.step(name, f"{role.value} until {render_instant(token.expires_at_ms)}")
    screen.step("file", screen.shorten(locate_token(current, name)))


@app.command()
def remove(name: Name) -> None:
    """Remove a token; the API refuses it at once."""
    remove_token(_read_secure(), name)
    screen.step(name, "is no token any more")


@app.command()
def curl(
    name: Name,
    folder: Annotated[Path, typer.Argument(help="A folder for curl's settings.")],
) -> None:
    """Write settings with which curl shows this token, and trusts this shop's API."""
    write_curl_settings(_read_secure(), name, folder)
    screen.step(name, f"export CURL_HOME={shlex.quote(str(folder.resolve()))}")


def _read_secure() -> Settings:
    current = read_settings()
    if not current.secure:
        raise NotSecure
    return current
