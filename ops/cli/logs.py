"""retail logs: the logs of the components."""

import os
from typing import Annotated

import typer

from infra.errors import UserError
from infra.settings import read_settings
from ops.cli import fleet


class UnknownComponent(UserError):
    """An unknown component."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"There is no component {name}. There are: {', '.join(known)}")


class NoLogs(UserError):
    """Nothing has been logged yet."""

    def __init__(self) -> None:
        super().__init__("There are no logs yet. Start the components with: make up")


def logs(
    component: Annotated[str, typer.Argument(help="One component. Default: all.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the logs.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="From the end.")] = 20,
) -> None:
    """Show the end of the logs."""
    settings = read_settings()
    known = fleet.list_names(settings)
    if component and component not in known:
        raise UnknownComponent(component, known)
    wanted = (component,) if component else known
    files = [str(file) for name in wanted if (file := settings.logs_dir / f"{name}.log").exists()]
    if not files:
        raise NoLogs
    # -F goes on with the new file when the old one has reached its size limit.
    os.execvp("tail", ["tail", "-n", str(lines), *(["-F"] if follow else []), "--", *files])
