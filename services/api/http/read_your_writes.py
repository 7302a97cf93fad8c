"""Read-your-writes: an answer that holds at least the records named in the query."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import Query
from pydantic import Field, StringConstraints

from infra.kafka import Offsets, Partition
from services.api.http.parameters import Parameters
from services.api.problem import Invalid, Problem, Unavailable
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store

REACH_SECONDS_MAX = 30.0
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


ViewParameters = Annotated[ViewQuery, Query()]
"""The query of a route that reads a view and takes no other parameters."""


async def await_snapshots(store: Store, view: str, query: ViewQuery) -> Snapshots:
    """The snapshots of the view, once it holds the records named in the query.

    They are not older than the marker that the request waited for. Raises Problem.
    """
    snapshots = store.find_snapshots(view)
    if not query.min_offset:
        return snapshots
    wanted = _parse_offsets(query.min_offset)
    _refuse_other_inputs(_find_inputs(store, view), view, wanted)
    if store.commits.requests >= WAITING_MAX:
        raise Unavailable(
            "Too many waiting",
            f"Expected fewer than {WAITING_MAX} requests to wait for a record, found as many. "
            "Try again in a second.",
        )
    store.commits.requests += 1
    try:
        await store.commits.wait_until(
            lambda: _find_holding(store, view, wanted) is not None, REACH_SECONDS_MAX
        )
    finally:
        store.commits.requests -= 1
    holding = _find_holding(store, view, wanted)
    if holding is None:
        raise _describe_missing(store, view, wanted)
    return holding


def _parse_offsets(records: Iterable[str]) -> Offsets:
    """The highest named offset of each partition."""
    named: dict[Partition, int] = {}
    for record in records:
        topic, number, offset = record.split("/")
        partition = (topic, int(number))
        named[partition] = max(int(offset), named.get(partition, 0))
    return named


def _find_inputs(store: Store, view: str) -> Offsets:
    served = store.generations.find_view(view)
    return served.marker.inputs if served and served.marker else {}


def _find_holding(store: Store, view: str, wanted: Offsets) -> Snapshots | None:
    """The snapshots, if the view holds every wanted record. A marker names the next offset."""
    served = store.generations.find_view(view)
    snapshots = served.snapshots if served else None
    inputs = _find_inputs(store, view)
    is_complete = all(inputs.get(partition, 0) > offset for partition, offset in wanted.items())
    return snapshots if is_complete else None


def _refuse_other_inputs(inputs: Offsets, view: str, wanted: Offsets) -> None:
    for topic, partition in wanted:
        if (topic, partition) not in inputs:
            expected = ", ".join(f"{topic}/{partition}" for topic, partition in sorted(inputs))
            raise Invalid(
                "Not an input of the view",
                f"min_offset: expected a record of what {view} is made from, {expected}; found one "
                f"of {topic}/{partition}, which no answer of it will ever hold.",
            )


def _describe_missing(store: Store, view: str, wanted: Offsets) -> Problem:
    inputs, ends = _find_inputs(store, view), store.freshness.get_latest_ends()
    counted, gaps = {}, []
    for (topic, partition), offset in wanted.items():
        reached = inputs.get((topic, partition), 0)
        if reached <= offset:
            counted[f"{topic}/{partition}"] = reached
            end = ends.get((topic, partition), "an offset not known yet")
            gaps.append(
                f"{topic}/{partition}/{offset}: counted up to {reached}, the log ends at {end}"
            )
    return Unavailable(
        "Not reached yet",
        f"Expected {view} to hold the records named within {REACH_SECONDS_MAX:g} s, found "
        f"{'; '.join(gaps)}. Ask again; GET /v1/pipelines says whether the pipeline moves.",
        counted=counted,
    )
