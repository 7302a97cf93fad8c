"""What to try once everything is ready.

`python -m ops.cli.welcome ADDRESS` says in the API's container where the shop answers outside.
"""

import sys

from infra.http import NO_ANSWER, fetch_json
from infra.security.tokens import locate_token_folder
from infra.settings import Settings, read_settings
from infra.token import read_token
from ops.cli import screen

ANSWER_SECONDS_MAX = 2.0


def welcome(current: Settings) -> None:
    screen.say("")
    screen.step("Shop", f"{current.api_url}/")
    screen.step("Stock", f"{current.api_url}/v1/stock")
    shelf = find_shelf(current)
    if shelf:
        screen.step("One shelf", f"{current.api_url}/v1/stock/{shelf}")
    elif current.world == "own":
        screen.step("Empty so far", "retail import --draft FILE · docs/own-shop.md")
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


def find_shelf(current: Settings) -> str | None:
    """The path of a known shelf, if the API names one."""
    try:
        found = fetch_json(f"{current.api_url}/v1/stock?limit=1", ANSWER_SECONDS_MAX, current)
        first = found["items"][0]
        return f"{first['store_id']}/{first['sku']}"
    except (*NO_ANSWER, LookupError):
        return None


if __name__ == "__main__":
    welcome_outside(read_settings(), sys.argv[1])
