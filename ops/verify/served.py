"""Fetches the views of a pipeline from the API, whole, at one marker."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from contracts import CONTRACTS
from contracts.documents import from_document
from infra.errors import UserError
from infra.http import open_answer
from infra.kafka import Offsets, Partition
from infra.settings import Settings
from ops.verify.inventory import Book, Row

REQUEST_SECONDS_MAX = 60.0


class ApiDown(UserError):
    """The API does not serve the views."""

    def __init__(self, source: str, why: object) -> None:
        super().__init__(f"{source} should answer with the views, but: {why}. Start it: make up")


@dataclass(frozen=True)
class Served:
    pipeline: str
    generation: int
    batch: int
    inputs: Offsets
    books: Mapping[Partition, Book]
    views: Mapping[str, list[Row]]
    """The rows of each view, by its name."""


def fetch_views(settings: Settings, pipeline: str) -> Served:
    """The pipeline's views, in one answer and so at one marker. Raises ApiDown."""
    with open_export(settings, pipeline) as (head, lines):
        views = {
            extent["view"]: [
                from_document(CONTRACTS[extent["view"]], json.loads(line))
                for line in take_rows(lines, extent)
            ]
            for extent in head["views"]
        }
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


def take_rows(lines: Iterator[bytes], extent: Mapping[str, Any]) -> Iterator[bytes]:
    """The lines of the next view's rows, as many as announced. Raises ApiDown for fewer."""
    for number in range(extent["rows"]):
        line = next(lines, None)
        if line is None:
            why = f"it sent {number} rows of {extent['view']}, not {extent['rows']}"
            raise ApiDown("The export", why)
        yield line


def parse_inputs(marker: Mapping[str, Any]) -> dict[Partition, int]:
    """The input offsets of an answer's marker: the answer covers every record below them."""
    return {
        (topic, partition): offset
        for topic, offsets in marker["inputs"].items()
        for partition, offset in enumerate(offsets)
    }


@contextmanager
def open_export(
    settings: Settings, pipeline: str
) -> Iterator[tuple[Mapping[str, Any], Iterator[bytes]]]:
    """The header of the API's answer for the pipeline's views, and the lines that hold their rows.

    Raises ApiDown if there is no answer, or an incomplete one.
    """
    url = f"{settings.api_url}/v1/pipelines/{pipeline}/export"
    try:
        with open_answer(url, REQUEST_SECONDS_MAX, settings) as answer:
            lines = iter(answer)
            first = next(lines, None)
            if first is None:
                raise ApiDown(url, "its answer is empty")
            yield json.loads(first), lines
    except OSError as error:
        raise ApiDown(url, error) from error
