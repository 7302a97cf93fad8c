"""Fetches the views of a pipeline from the API into files, at one marker."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from infra.kafka import Partition
from infra.settings import Settings
from ops.verify.served import CutOff, open_export, parse_inputs


@dataclass(frozen=True)
class Served:
    """The views of the served generation, whole, at one marker, as files of JSON lines."""

    generation: int
    batch: int
    inputs: dict[Partition, int]
    oldest_kept: dict[str, str | None]
    """View → the start of its oldest kept rows; None: all rows are kept."""
    files: dict[str, Path]
    """View → its rows."""


def fetch(settings: Settings, pipeline: str, folder: Path) -> Served:
    """Fetch all views of a pipeline. Raises ApiDown."""
    with open_export(settings, pipeline) as (head, lines):
        files = {each["view"]: keep(pipeline, lines, each, folder) for each in head["views"]}
    return Served(
        generation=head["generation"],
        batch=head["marker"]["batch"],
        inputs=parse_inputs(head["marker"]),
        oldest_kept={each["view"]: each["oldest_kept"] for each in head["views"]},
        files=files,
    )


def keep(pipeline: str, lines: Iterator[bytes], extent: dict[str, Any], folder: Path) -> Path:
    """Write the rows of one view to a file. Raises CutOff if there are too few."""
    file = folder / f"{extent['view']}.ndjson"
    rows = 0
    with file.open("wb") as kept:
        for line in islice(lines, extent["rows"]):
            kept.write(line)
            rows += 1
    if rows < extent["rows"]:
        raise CutOff(pipeline, extent["view"], rows, extent["rows"])
    return file
