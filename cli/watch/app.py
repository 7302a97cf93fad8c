"""retail watch: the shop in the terminal, as it changes."""

from contextlib import suppress
from threading import Event
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from cli.watch.client import Client
from cli.watch.feeds import Feeds
from cli.watch.screen import draw
from infra.errors import UserError
from infra.settings import read_settings

LOOK_SECONDS = 1.0
"""The time between two pictures."""


class ApiDown(UserError):
    """The API does not answer."""

    def __init__(self, address: str) -> None:
        super().__init__(f"The API does not answer on {address}. Start it with: make up")


def watch(
    once: Annotated[bool, typer.Option("--once", help="Print it once, and end.")] = False,
) -> None:
    """Show sales, shelves, alerts, orders and pipelines, live. Ctrl-C ends it."""
    current = read_settings()
    feeds = Feeds(Client(current.api_url, current))
    console = Console(highlight=False)
    if once or not console.is_terminal:
        print_once(feeds, console)
        return
    with suppress(KeyboardInterrupt):
        follow(feeds, console)


def print_once(feeds: Feeds, console: Console) -> None:
    """One picture of any height. Raises ApiDown."""
    feeds.poll()
    if feeds.gone_since is not None:
        raise ApiDown(feeds.address)
    console.print(draw(feeds, console.width, None))


def follow(feeds: Feeds, console: Console, ended: Event | None = None) -> None:
    """A picture each second, until the event is set."""
    ended = ended or Event()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while not ended.is_set():
            feeds.poll()
            live.update(draw(feeds, console.width, console.height), refresh=True)
            ended.wait(LOOK_SECONDS)
