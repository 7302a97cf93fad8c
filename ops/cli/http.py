"""retail contracts http: the API's OpenAPI document, as it is committed."""

from typing import Annotated

import typer

from ops.cli import screen


def http_command(
    write: Annotated[
        bool, typer.Option("--write", help="Write the document as the routes are now.")
    ] = False,
) -> None:
    """Compare the API's routes with the committed OpenAPI document."""
    # Not above: its import needs an id of every schema, which `release` of this group assigns.
    from services.api import openapi

    now = openapi.render()
    if now == openapi.read_committed():
        screen.say(f"  {len(now['paths'])} paths, as committed")
    elif write:
        openapi.write(now)
        screen.say(f"  {len(now['paths'])} paths written to {screen.shorten(openapi.FILE)}")
    else:
        screen.say(
            "  The routes are not as committed. What clients use stays, or a path of its own\n"
            "  serves the new shape beside it. Write them: retail contracts http --write"
        )
        raise typer.Exit(1)
