"""Served views: their rows keep their contract, and the days of daily demand are those of silver.

To check one more view: its name in VIEWS.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException

import pyarrow as pa
import pyarrow.compute as pc
from great_expectations import expectations as gxe

from contracts import (
    ALERTS,
    BEST_SELLERS,
    DAILY_DEMAND,
    MARKDOWN_PROPOSALS,
    POSITION_CHANGES,
    PROPOSALS,
    STOCK_LEVELS,
    STORE_SALES,
    Contract,
)
from infra.errors import UserError
from infra.http import open_answer
from infra.kafka import Offsets
from infra.lake import Folders, read_coverage
from infra.settings import Settings
from infra.wait import wait_for
from pipelines.lake.quality import sums
from pipelines.lake.quality.checks import Frame, check_rules
from pipelines.lake.quality.reading import begin_of, number_days, open_silver
from pipelines.lake.transform import MOVES

VIEWS = (
    *(DAILY_DEMAND, STORE_SALES, BEST_SELLERS, STOCK_LEVELS, ALERTS),
    *(PROPOSALS, POSITION_CHANGES, MARKDOWN_PROPOSALS),
)
COMPARED = ("units_sold", "units_refunded")
ANSWER_SECONDS_MAX, CAUGHT_UP_SECONDS_MAX = 60.0, 150.0
ROWS_MAX = 1_000_000
"""A larger view is not checked."""


class NotCompared(UserError):
    """There is nothing to compare the lake with."""


@dataclass(frozen=True)
class Served:
    """A view's rows at one marker."""

    view: Contract
    batch: int
    ends: Offsets
    """The offsets of the events that the view has counted."""
    rows: pa.Table


def fetch(settings: Settings, view: Contract) -> Served:
    """The view, as the API serves it. Raises NotCompared."""
    url = f"{settings.api_url}/v1/views/{view.name}/export?format=arrow"
    try:
        with open_answer(url, ANSWER_SECONDS_MAX, settings) as answer:
            reader = pa.ipc.open_stream(answer)
            head = json.loads(reader.schema.metadata[b"head"])
            if head["rows"] > ROWS_MAX:
                raise NotCompared(f"{url} has {head['rows']:,} rows, more than {ROWS_MAX:,}")
            rows = reader.read_all()
    except (OSError, HTTPException, pa.ArrowException) as error:
        raise NotCompared(f"{url} should answer with the view, but: {error}") from error
    moves = {topic.name for topic in MOVES}
    ends = {
        (topic, partition): end
        for topic, offsets in head["marker"]["inputs"].items()
        for partition, end in enumerate(offsets)
        if topic in moves
    }
    return Served(view, head["marker"]["batch"], ends, rows)


def await_lake(folders: Folders, served: Served) -> None:
    """Wait until silver holds what the view has counted, a batch later. Raises NotCompared."""

    def holds() -> bool:
        kept: dict[tuple[str, int], int] = {}
        for topic in MOVES:
            kept.update(read_coverage(folders.silver(topic)).ends)
        return all(kept.get(partition, 0) >= end for partition, end in served.ends.items())

    if not wait_for(holds, CAUGHT_UP_SECONDS_MAX, poll_seconds=1.0):
        raise NotCompared(
            f"the lake is behind marker {served.batch}; it runs where LAKE=on: make status"
        )


def measure(folders: Folders, served: Served, days_max: int | None) -> Iterator[Frame]:
    """The rows by their contract. Of daily demand only those of the newest days, which silver has
    to add up to; None: of all days.
    """
    rows, totals = served.rows, None
    if served.view == DAILY_DEMAND and rows.num_rows:
        days = number_days(rows["day_start"])
        numbers = pc.unique(days).sort().to_pylist()
        first = numbers[-min(days_max or len(numbers), len(numbers))]
        rows = rows.filter(pc.greater_equal(days, first))
        totals = compare_days(folders, served, rows, first)
    yield from check_rules(served.view, rows)
    if totals is not None:
        yield totals


def compare_days(folders: Folders, served: Served, rows: pa.Table, first: int) -> Frame:
    # Older days of silver do not count: readers of the view may have dropped them.
    events = open_silver(folders, served.ends, pc.field("event_time") >= begin_of(first))
    return Frame(
        "totals of each day",
        sums.compare_by_day(rows, events),
        [
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A=name, column_B=f"{name}_served", description=f"{name} as in silver"
            )
            for name in COMPARED
        ],
    )
