"""retail security: the tokens of a secure shop."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.security.files import locate_authority, make_folder, replace
from infra.security.tokens import (
    DAYS,
    Role,
    add_token,
    get_token,
    list_tokens,
    locate_token,
    remove_token,
)
from infra.settings import Settings, locate_root, read_settings
from ops.cli import screen
from services.times import render_instant

DAYS_MAX = 3_650
CURL_FILE = ".curlrc"
CURL_SETTINGS = """\
proto-default = "https"
cacert = "{authority}"
header = "Authorization: Bearer {secret}"
"""

app = typer.Typer(no_args_is_help=True)
tokens = typer.Typer(no_args_is_help=True, help="The API's tokens.")
app.add_typer(tokens, name="token")

Name = Annotated[str, typer.Argument(help="The token's name; the audit records it as the caller.")]


@tokens.command("list")
def list_command() -> None:
    """Show name, role, expiry and file of every token."""
    current = read_secure()
    screen.print_table(
        ("token", "role", "valid until", "file"),
        (
            (
                token.name,
                token.role.value,
                render_instant(token.expires_at_ms)
                + (" (over)" if token.is_expired(get_wall_ms()) else ""),
                screen.shorten(locate_token(current, token.name)),
            )
            for token in list_tokens(current)
        ),
    )


@tokens.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What it permits; an operator may do everything.")],
    days: Annotated[int, typer.Option(min=1, max=DAYS_MAX, help="Days until it expires.")] = DAYS,
) -> None:
    """Draw a token and show its file; it replaces an earlier token of this name."""
    current = read_secure()
    token = add_token(current, name, role, get_wall_ms(), days)
    screen.step(name, f"{role.value} until {render_instant(token.expires_at_ms)}")
    screen.step("file", screen.shorten(locate_token(current, name)))


@tokens.command()
def remove(name: Name) -> None:
    """Remove a token; the API refuses it at once."""
    remove_token(read_secure(), name)
    screen.step(name, "is no token any more")


@tokens.command()
def curl(
    name: Name, folder: Annotated[Path, typer.Argument(help="A folder for curl's settings.")]
) -> None:
    """Write settings with which curl shows this token, and trusts this shop's API."""
    write_curl_settings(read_secure(), name, folder)
    screen.step(name, f"export CURL_HOME={shlex.quote(str(folder.resolve()))}")


def read_secure() -> Settings:
    """The settings of a secure shop. Raises UserError for another one."""
    current = read_settings()
    if not current.secure:
        raise UserError(
            "This shop has no certificates, and only the token for actions, because SECURE is "
            "off. Begin a secure shop in an empty data folder: make up SECURE=on"
        )
    return current


def write_curl_settings(settings: Settings, name: str, folder: Path) -> None:
    """Write the settings with which curl shows this token to the shop, for a CURL_HOME.

    Only their owner can read them. Raises UserError.
    """
    token = get_token(settings, name)
    text = CURL_SETTINGS.format(authority=locate_authority(settings), secret=token.secret)
    make_folder(folder)
    replace(folder / CURL_FILE, text)


@contextmanager
def lend_credentials(settings: Settings) -> Iterator[dict[str, str]]:
    """Variables with which curl and Python's urllib ask a secure shop as its operator.

    There are none for another shop. The token is in files alone; curl's is removed after the block.
    """
    if not settings.secure:
        yield {}
        return
    with TemporaryDirectory() as folder:
        write_curl_settings(settings, Role.OPERATOR, Path(folder))
        yield {
            "CURL_HOME": folder,
            "SSL_CERT_FILE": str(locate_authority(settings)),
            "TOKEN_FILE": str(locate_token(settings, Role.OPERATOR)),
            "PYTHONPATH": f"{Path(__file__).with_name('with_token')}:{locate_root()}",
        }
