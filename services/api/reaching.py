"""Reading one's own write: an answer that holds at least the records that the query names."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated

from pydantic import Field, StringConstraints

from infra.kafka import Partition
from services.api.cursors import pinned
from services.api.marker import Offsets
from services.api.models import Parameters
from services.api.problems import Problem
from services.api.snapshots import Snapshots
from services.api.sources import Sources

REACH_SECONDS_MAX = 10.0
WAITING_MAX = 64
RECORDS_MAX = 16

Record = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]{1,200}/\d{1,9}/\d{1,18}$")]


class ViewQuery(Parameters):
    """The query of every route that reads a view."""

    min_offset: list[Record] = Field(
        [],
        max_length=RECORDS_MAX,
        description="topic/partition/offset of a record that the answer must hold, as "
        "`POST /v1/events/{topic}` gives it; may be repeated. The answer waits for it, at most "
        f"{REACH_SECONDS_MAX:g} s.",
    )


async def reached(sources: Sources, view: str, query: ViewQuery) -> Snapshots:
    """Where to read the view from, once it holds what the query names; raises Problem.

    What is read there never lies before the marker that was waited for. A further page is read
    from the generation of the pages before, while that is kept up to date.
    """
    snapshots = sources.snapshots(view, pinned(getattr(query, "cursor", None)))
    if not query.min_offset:
        return snapshots
    wanted = _offsets(query.min_offset)
    _refuse_others(_inputs(sources, view), view, wanted)
    if sources.commits.requests >= WAITING_MAX:
        raise _too_many()
    sources.commits.requests += 1
    try:
        await sources.commits.until(
            lambda: _holding(sources, view, wanted) is not None, REACH_SECONDS_MAX
        )
    finally:
        sources.commits.requests -= 1
    holding = _holding(sources, view, wanted)
    if holding is None:
        raise _not_reached(sources, view, wanted)
    return holding


def _offsets(records: Iterable[str]) -> Offsets:
    """The highest offset named of each partition."""
    named: dict[Partition, int] = {}
    for record in records:
        topic, partition, offset = record.split("/")
        at = (topic, int(partition))
        named[at] = max(int(offset), named.get(at, 0))
    return named


def _inputs(sources: Sources, view: str) -> Offsets:
    served = sources.generations.serving(view)
    return served.marker.inputs if served and served.marker else {}


def _holding(sources: Sources, view: str, wanted: Offsets) -> Snapshots | None:
    """Where the view holds every record wanted; a marker says which offset comes next."""
    served = sources.generations.serving(view)
    snapshots = served.snapshots if served else None
    inputs = _inputs(sources, view)
    held = all(inputs.get(at, 0) > offset for at, offset in wanted.items())
    return snapshots if held else None


def _refuse_others(inputs: Offsets, view: str, wanted: Offsets) -> None:
    for topic, partition in wanted:
        if (topic, partition) not in inputs:
            known = ", ".join(f"{topic}/{partition}" for topic, partition in sorted(inputs))
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                "Not an input of the view",
                f"min_offset: expected a record of what {view} is made from, {known}; found one "
                f"of {topic}/{partition}, which no answer of it will ever hold.",
            )


def _not_reached(sources: Sources, view: str, wanted: Offsets) -> Problem:
    inputs, ends = _inputs(sources, view), sources.freshness.ends()
    missing = {at: offset for at, offset in wanted.items() if inputs.get(at, 0) <= offset}
    told = "; ".join(
        f"{topic}/{partition}/{offset}: counted up to {inputs.get((topic, partition), 0)}, "
        f"the log ends at {ends.get((topic, partition), 'an offset not known yet')}"
        for (topic, partition), offset in missing.items()
    )
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Not reached yet",
        f"Expected {view} to hold the records named within {REACH_SECONDS_MAX:g} s, found {told}. "
        "Ask again; GET /v1/pipelines says whether the pipeline moves.",
        headers={"Retry-After": "1"},
        counted={f"{topic}/{at}": inputs.get((topic, at), 0) for topic, at in missing},
    )


def _too_many() -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Too many waiting",
        f"Expected fewer than {WAITING_MAX} requests to wait for a record, found as many. "
        "Try again in a second.",
        headers={"Retry-After": "1"},
    )
