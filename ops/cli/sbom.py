"""retail sbom: the bill of materials."""

from pathlib import Path
from typing import Annotated

import typer

from infra.sbom import render
from ops.cli import screen

To = Annotated[Path | None, typer.Argument(help="file to write; printed, if left out")]


def sbom(to: To = None) -> None:
    """List every package, jar and script with its version, in CycloneDX."""
    text = render()
    if to is None:
        typer.echo(text)  # unchanged: the screen would wrap its lines
        return
    to.write_text(text + "\n", encoding="utf-8")
    screen.step("sbom", f"{to}, {len(text):,} characters")
