"""What to try once everything is ready.

`python -m ops.cli.welcome ADDRESS` says in the API's container where the shop answers outside.
"""

import sys

from infra.security.tokens import locate_token_folder
from infra.settings import Settings, read_settings
from infra.token import read_token
from ops.cli import screen


def welcome(current: Settings) -> None:
    screen.say("")
    screen.step("Shop", f"{current.api_url}/")
    screen.step("Stock", f"{current.api_url}/v1/stock")
    if not current.is_simulated:
        screen.step("Your sales", "retail import --draft FILE · docs/own-shop.md")
    screen.step("API docs", f"{current.api_url}/docs")
    show_tokens(current, "retail security token list")
    screen.step("Next", "make verify · make status · make logs · make down")


def welcome_outside(current: Settings, address: str) -> None:
    """The first lines of `welcome`, for the host around the containers."""
    scheme, _, _ = current.api_url.partition("://")
    screen.step("Shop", f"{scheme}://{address}/")
    show_tokens(current, "in the API's container: docs/containers.md")


def show_tokens(current: Settings, where: str) -> None:
    """The token for actions; of a secure shop only where its tokens are, which open everything."""
    if current.secure:
        screen.step("Tokens", f"{screen.shorten(locate_token_folder(current))} ({where})")
    else:
        screen.step("Token", f"{read_token(current)} (to promote, roll back, prune, release)")


if __name__ == "__main__":
    welcome_outside(read_settings(), sys.argv[1])
