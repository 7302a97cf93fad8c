"""retail contracts http: the API's OpenAPI document, and the clients that a difference breaks."""

from typing import Annotated

import typer

from contracts.evolution.http import find_breaks
from ops.cli import screen


def http_command(
    write: Annotated[
        bool, typer.Option("--write", help="Write the document as the routes are now.")
    ] = False,
    even_so: Annotated[
        bool, typer.Option("--break", help="Write it although clients break by it.")
    ] = False,
) -> None:
    """Compare the API's routes with the committed OpenAPI document."""
    # Not above: its import needs an id of every schema, which `release` of this group assigns.
    from services.api import openapi

    before, now = openapi.read_committed(), openapi.render()
    broken = list(find_breaks(before, now))
    for one in broken:
        screen.say(f"  {one}")
    if broken and not even_so:
        screen.say(
            f"  {len(broken)} differences break clients. Keep what they use; or serve the new\n"
            "  shape under a path of its own, beside the old one, until they have moved."
        )
        raise typer.Exit(1)
    if now == before:
        screen.say(f"  {len(now['paths'])} paths, as committed")
    elif write:
        openapi.write(now)
        screen.say(f"  {len(now['paths'])} paths written to {screen.shorten(openapi.FILE)}")
    else:
        screen.say("  The routes are not as committed, which breaks nobody. Commit them with:")
        screen.say("  retail contracts http --write")
        raise typer.Exit(1)
