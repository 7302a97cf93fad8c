"""GET /v1/stream: the changes of a view per commit, as server-sent events.

The API keeps only a position per reader, so a slow reader costs nothing. When the change
log no longer holds a position, the stream ends with that reason.
"""

import json
import sqlite3
from collections.abc import AsyncIterator
from time import monotonic
from typing import Annotated

import anyio
from fastapi import Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field

from services.api.http.answers import Slots
from services.api.http.parameters import FromStore, Parameters
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import Invalid
from services.api.routes.views import find_table
from services.api.store import changes
from services.api.store.snapshots import Snapshot, Snapshots
from services.api.store.store import Store

EVENT_ID = r"\d{1,18}-\d{1,18}"
STREAMS_MAX = 32
STREAM_SECONDS_MAX = 3_600.0
LOOK_SECONDS = 10.0  # no commit says that a view is withdrawn
RETRY_SECONDS = 0.5  # after the file was found damaged
RETRY_MS = 1_000  # after which a reader reconnects

BEGINS = "the stream begins here"
GENERATION = "another generation is served"
FORGOTTEN = "the change log no longer, or not yet, holds what came after the event named"
TOO_MANY = f"more than {changes.ROWS_PER_CHANGE_MAX} rows changed at once"
TOO_SLOW = "read too slowly: the change log has moved on"
WITHDRAWN = "no generation of the view may be read any more"
STOPPING = "the API is being stopped"
TOO_LONG = "a stream ends after an hour"

router = Router(tags=["stream"])

LastEventId = Annotated[
    str | None,
    Header(
        pattern=f"^{EVENT_ID}$",
        description="the id of the last event that was taken; the stream goes on after it",
    ),
]


class StreamQuery(Parameters):
    view: str = Field(max_length=200, description="a view's contract")


def create_end(reason: str) -> ServerSentEvent:
    return ServerSentEvent(event="end", raw_data=json.dumps({"reason": reason}))


class Position:
    """A reader's position in the changes of one view."""

    def __init__(self, store: Store, view: str, resumed: str | None) -> None:
        self._store = store
        self._view = view
        self._resumed = resumed
        self._snapshots: Snapshots | None = None  # of the generation that the position is in
        self._number = 0
        self._marker: object = None  # everything up to it has been sent

    def has_moved(self) -> bool:
        served = self._store.generations.find_view(self._view)
        if served is None:
            return True
        if served.snapshots is None:
            return False  # being rebuilt; a reset follows
        return served.snapshots is not self._snapshots or served.marker is not self._marker

    def find_next(self) -> ServerSentEvent | None:
        """The reader's next event; None while nothing has changed."""
        served = self._store.generations.find_view(self._view)
        if served is None:
            return create_end(WITHDRAWN)
        marker, snapshots = served.marker, served.snapshots
        if snapshots is None or not self.has_moved():
            return None
        with snapshots.open() as snapshot:
            event = None
            if snapshots is not self._snapshots:
                event = self._enter(snapshot, snapshots)
            event = event or self._advance(snapshot)
        if event is None:
            self._marker = marker
        return event

    def _enter(self, snapshot: Snapshot, snapshots: Snapshots) -> ServerSentEvent | None:
        """Resume after the named event if the change log has it; else begin at the marker."""
        first = self._snapshots is None
        self._snapshots, self._number = snapshots, changes.find_extent(snapshot)[1]
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            return self._reset(snapshot, BEGINS if first else GENERATION)
        generation, batch = map(int, resumed.split("-"))
        if generation != snapshot.marker.generation:
            return self._reset(snapshot, GENERATION)
        number = changes.find_position(snapshot, self._view, batch)
        if number is None:
            return self._reset(snapshot, FORGOTTEN)
        self._number = number
        return None

    def _advance(self, snapshot: Snapshot) -> ServerSentEvent | None:
        if self._number < changes.find_extent(snapshot)[0] - 1:
            return create_end(TOO_SLOW)
        change = changes.find_next(snapshot, self._view, self._number)
        if change is None:
            return None
        self._number = change.number
        generation = snapshot.marker.generation
        if change.rows is None:
            return self._reset(snapshot, TOO_MANY, change.batch)
        head = {"view": self._view, "generation": generation, "batch": change.batch}
        data = f'{json.dumps(head, separators=(",", ":"))[:-1]},"rows":{change.rows}}}'
        return ServerSentEvent(event="change", raw_data=data, id=f"{generation}-{change.batch}")

    def _reset(self, snapshot: Snapshot, reason: str, batch: int | None = None) -> ServerSentEvent:
        batch = snapshot.marker.batch if batch is None else batch
        data = {
            "view": self._view,
            "generation": snapshot.marker.generation,
            "batch": batch,
            "reason": reason,
            "fetch": f"/v1/views/{self._view}/export",
        }
        identity = f"{snapshot.marker.generation}-{batch}"
        return ServerSentEvent(event="reset", raw_data=json.dumps(data), id=identity)


async def open_position(
    request: Request,
    store: FromStore,
    query: Annotated[StreamQuery, Query()],
    last_event_id: LastEventId = None,
) -> AsyncIterator[Position]:
    """The reader's position, in a slot while the stream lasts. Raises Problem."""
    if len(request.query_params.getlist("view")) > 1:
        raise Invalid(
            "Invalid request", "view: expected once, found several: a stream has one view"
        )
    find_table(query.view)
    store.find_snapshots(query.view)
    slots: Slots = request.app.state.streams
    slots.take()
    try:
        yield Position(store, query.view, last_event_id)
    finally:
        slots.free()


@router.get(
    "/v1/stream",
    summary="The changes of a view, as server-sent events",
    description="One `change` per committed marker has the rows that changed, as they are at the "
    "marker. Its id is generation-batch. A `reset`, which is also the first event, says: fetch the "
    "view, and apply the changes of later batches. A reader that comes back with Last-Event-ID "
    "gets what it missed, or a `reset`. An `end` is the last event and says why.",
    response_class=EventSourceResponse,
    responses=ITEM_PROBLEMS,
)
async def stream_view(
    store: FromStore, position: Annotated[Position, Depends(open_position)]
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(retry=RETRY_MS)
    until = monotonic() + STREAM_SECONDS_MAX
    while not store.stopping.is_set() and monotonic() < until:
        try:
            event = position.find_next()
        except sqlite3.DatabaseError:
            # The materializer rebuilds the file; a reset follows.
            await anyio.sleep(RETRY_SECONDS)
            continue
        if event is None:
            await store.commits.wait_until(
                lambda: position.has_moved() or store.stopping.is_set(),
                min(LOOK_SECONDS, until - monotonic()),
            )
            continue
        yield event
        if event.event == "end":
            return
    yield create_end(STOPPING if store.stopping.is_set() else TOO_LONG)
