"""GET /v1/stream: the changes of views per commit, as server-sent events."""

import sqlite3
from collections.abc import AsyncIterator
from http import HTTPStatus
from time import monotonic
from typing import Annotated

import anyio
from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from services.api.http.parameters import Parameters
from services.api.http.positions import EVENT_ID, VIEWS_MAX, Positions, create_end
from services.api.http.problems import document_responses
from services.api.http.router import Router
from services.api.http.slots import Slots
from services.api.http.sources import FromStore
from services.api.routes.views import find_table
from services.api.store.store import Store

STREAMS_MAX = 32
STREAM_SECONDS_MAX = 3_600.0
SEND_SECONDS_MAX = 10.0  # a reader that takes nothing for that long is gone
HEARTBEAT_SECONDS = 10.0
RETRY_SECONDS = 0.5  # after the file was found damaged
RETRY_MS = 1_000  # after which a reader reconnects
EVENT_STREAM = "text/event-stream"

STOPPING = "the API is being stopped"
TOO_LONG = "a stream ends after an hour"

router = Router(tags=["stream"])

LastEventId = Annotated[
    str | None,
    Header(
        pattern=f"^{EVENT_ID.pattern}$",
        description="the id of the last event that was taken; the stream goes on after it",
    ),
]


class StreamQuery(Parameters):
    view: list[str] = Field(
        min_length=1,
        max_length=VIEWS_MAX,
        description="a view's contract; may be repeated. A reader that comes back names the same "
        "views in the same order",
    )


def create_slots() -> Slots:
    """The slots for concurrent streams, one set per app, in `app.state.streams`."""
    return Slots("streams", STREAMS_MAX)


@router.get(
    "/v1/stream",
    summary="The changes of views, as server-sent events",
    description="One `change` per view and committed marker has the rows that changed, as they are "
    "at the marker. Its id is generation-batch; the ids of several views are joined by a dot. A "
    "`reset`, which is also the first event, says: fetch the view, and apply the changes of later "
    "batches. A reader that comes back with Last-Event-ID gets what it missed, or a `reset`. "
    "An `end` is the last event and says why.",
    response_class=StreamingResponse,
    responses={
        200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}},
        **document_responses(
            HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE
        ),
    },
)
async def stream_views(
    request: Request,
    store: FromStore,
    query: Annotated[StreamQuery, Query()],
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    views = tuple(dict.fromkeys(query.view))
    for view in views:
        find_table(view)
        store.find_snapshots(view)
    slots: Slots = request.app.state.streams
    slots.take()
    return EventStream(render_events(Positions(store, views, last_event_id), store), slots)


class EventStream(StreamingResponse):
    """A stream that ends if its reader takes nothing, and then frees its slot."""

    def __init__(self, events: AsyncIterator[str], slots: Slots) -> None:
        super().__init__(events, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            with anyio.fail_after(SEND_SECONDS_MAX):
                await send(message)

        try:
            await super().__call__(scope, receive, send_in_time)
        except (TimeoutError, ClientDisconnect):
            pass  # the connection ends with this call
        finally:
            self._slots.free()


async def render_events(positions: Positions, store: Store) -> AsyncIterator[str]:
    """The stream's text, event by event, with a heartbeat while there is no event."""
    yield f"retry: {RETRY_MS}\n\n"
    sent_at = monotonic()
    until = sent_at + STREAM_SECONDS_MAX
    while not store.stopping.is_set() and monotonic() < until:
        try:
            event = positions.find_next()
        except sqlite3.DatabaseError:
            # The materializer rebuilds the file; a reset follows.
            await anyio.sleep(RETRY_SECONDS)
            continue
        if event is not None:
            sent_at = monotonic()
            yield str(event)
            if event.kind == "end":
                return
        elif monotonic() >= sent_at + HEARTBEAT_SECONDS:
            sent_at = monotonic()
            yield ": nothing new\n\n"
        else:
            pause = min(sent_at + HEARTBEAT_SECONDS, until) - monotonic()
            await store.commits.wait_until(lambda: _has_news(positions, store), pause)
    yield str(create_end(STOPPING if store.stopping.is_set() else TOO_LONG))


def _has_news(positions: Positions, store: Store) -> bool:
    return positions.has_moved() or store.stopping.is_set()
