"""retail logs: the logs of the components."""

import os
from typing import Annotated

import typer

from infra.errors import UserError
from infra.settings import read_settings
from ops.cli import fleet


def logs(
    component: Annotated[str, typer.Argument(help="One component. Default: all.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the logs.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="From the end.")] = 20,
) -> None:
    """Show the end of the logs."""
    settings = read_settings()
    known = fleet.list_names(settings)
    if component and component not in known:
        raise UserError(f"There is no component {component}. There are: {', '.join(known)}")
    wanted = (component,) if component else known
    files = [str(file) for name in wanted if (file := settings.logs_dir / f"{name}.log").exists()]
    if not files:
        raise UserError("There are no logs yet. Start the components with: make up")
    # -F goes on with the new file when the old one has reached its size limit.
    os.execvp("tail", ["tail", "-n", str(lines), *(["-F"] if follow else []), "--", *files])
