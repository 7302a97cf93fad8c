"""The views of a pipeline as the API serves them, whole, at one marker."""

import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from audit.inventory import Book, Row
from contracts import CONTRACTS, Contract
from contracts.documents import from_document
from infra.errors import UserError
from infra.kafka import Offsets, Partition
from infra.settings import Settings

REQUEST_SECONDS_MAX = 60.0


class ApiDown(UserError):
    """The API does not give the views."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(f"{url} should answer with the views, but: {why}. Start it: make up")


@dataclass(frozen=True)
class Served:
    """The views as a reader gets them."""

    pipeline: str
    generation: int
    batch: int
    inputs: Offsets
    books: Mapping[Partition, Book]
    views: Mapping[str, list[Row]]
    """The rows of each view, by its name."""


def fetch_views(settings: Settings, pipeline: str) -> Served:
    """The pipeline's views; one answer, so one marker. Raises ApiDown."""
    url = f"{settings.api_url}/v1/pipelines/{pipeline}/export"
    with answered(url, ApiDown) as lines:
        head = json.loads(next(lines))
        views = {one["view"]: parse_rows(url, lines, one) for one in head["views"]}
    return Served(
        pipeline=pipeline,
        generation=head["generation"],
        batch=head["marker"]["batch"],
        inputs=parse_inputs(head["marker"]),
        books={
            (book["topic"], book["partition"]): Book(
                book["read"], book["applied"], book["duplicate"], book["quarantined"]
            )
            for book in head["books"]
        },
        views=views,
    )


def parse_rows(url: str, lines: Iterator[bytes], extent: Mapping[str, Any]) -> list[Row]:
    """The next rows of a view, as many as announced."""
    view: Contract = CONTRACTS[extent["view"]]
    found = [from_document(view, json.loads(line)) for line in islice(lines, extent["rows"])]
    if len(found) != extent["rows"]:
        raise ApiDown(url, f"it sent {len(found)} rows of {view.name}, not {extent['rows']}")
    return found


def parse_inputs(marker: Mapping[str, Any]) -> dict[Partition, int]:
    """The offsets below which the marker of an answer has counted everything."""
    return {
        (topic, partition): offset
        for topic, offsets in marker["inputs"].items()
        for partition, offset in enumerate(offsets)
    }


@contextmanager
def answered(url: str, trouble: Callable[[str, object], Exception]) -> Iterator[Iterator[bytes]]:
    """The lines of the API's answer; raises `trouble` when there is none, or not to its end."""
    try:
        with urllib.request.urlopen(url, timeout=REQUEST_SECONDS_MAX) as answer:
            yield iter(answer)
    except OSError as error:
        raise trouble(url, error) from error
