"""The views of a pipeline as readers see them: at one marker, fetched from the API."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from audit.served import answered, parse_inputs
from infra.errors import UserError
from infra.kafka import Partition
from infra.settings import Settings


class NotServed(UserError):
    """The API does not give the views to compare with."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(f"{url} should answer, but: {why}. See what runs: make status")


@dataclass(frozen=True)
class Served:
    """The views of the served generation, whole, at one marker, as files of JSON lines."""

    generation: int
    batch: int
    inputs: dict[Partition, int]
    oldest_kept: dict[str, str | None]
    """View → from when on its rows are kept; None: all are."""
    files: dict[str, Path]
    """View → its rows."""


def fetch(settings: Settings, pipeline: str, folder: Path) -> Served:
    """Fetch all views of a pipeline; raises NotServed."""
    url = f"{settings.api_url}/v1/pipelines/{pipeline}/export"
    with answered(url, NotServed) as lines:
        head = json.loads(next(lines))
        files = {each["view"]: keep(lines, each, folder) for each in head["views"]}
    return Served(
        generation=head["generation"],
        batch=head["marker"]["batch"],
        inputs=parse_inputs(head["marker"]),
        oldest_kept={each["view"]: each["oldest_kept"] for each in head["views"]},
        files=files,
    )


def keep(lines: Iterator[bytes], extent: dict[str, Any], folder: Path) -> Path:
    """Write the rows of one view to a file; raises NotServed when there are too few."""
    file = folder / f"{extent['view']}.ndjson"
    found = 0
    with file.open("wb") as kept:
        for line in islice(lines, extent["rows"]):
            kept.write(line)
            found += 1
    if found < extent["rows"]:
        raise NotServed(extent["view"], f"the answer was cut off at {found} of {extent['rows']}")
    return file
