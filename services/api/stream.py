"""GET /v1/stream: the changes of views as they are committed, as server-sent events."""

import sqlite3
import threading
from collections.abc import AsyncIterator
from http import HTTPStatus
from time import monotonic
from typing import Annotated

import anyio
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from services.api import problems
from services.api.models import Parameters
from services.api.places import EVENT_ID, VIEWS_MAX, Places, end
from services.api.problems import Problem
from services.api.sources import Sources
from services.api.views import view_table

STREAMS_MAX = 32
STREAM_SECONDS_MAX = 3_600.0
SEND_SECONDS_MAX = 10.0  # a reader that takes nothing for so long is gone
HEARTBEAT_SECONDS = 10.0
RETRY_SECONDS = 0.5  # after the file that is read was found damaged
RETRY_MS = 1_000  # after which a reader should come back
EVENT_STREAM = "text/event-stream"

STOPPING = "the API is being stopped"
TOO_LONG = "a stream ends after an hour"

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


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["stream"])
    streams = threading.BoundedSemaphore(STREAMS_MAX)

    @router.get(
        "/v1/stream",
        operation_id="streamViews",
        summary="The changes of views, as server-sent events",
        description="One `change` per view and committed marker with the rows that it changed, as "
        "they stand at it. Its id is generation-batch, of several views joined by a dot. A "
        "`reset`, the first event too, says: fetch the view, and apply the changes of later "
        "batches. A reader that comes back with Last-Event-ID gets what it missed, or a `reset`. "
        "An `end` is the last event and says why.",
        response_class=StreamingResponse,
        responses={
            200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}},
            **problems.responses(
                HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE
            ),
        },
    )
    async def stream_view(
        query: Annotated[StreamQuery, Query()], last_event_id: LastEventId = None
    ) -> StreamingResponse:
        views = tuple(dict.fromkeys(query.view))
        for view in views:
            view_table(view)
            sources.snapshots(view)
        if not streams.acquire(blocking=False):
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                "Too many streams",
                f"Expected at most {STREAMS_MAX} streams at a time, found more. Try again when "
                "one of them has ended.",
                headers={"Retry-After": "5"},
            )
        places = Places(sources, views, last_event_id)
        return Streamed(messages(places, sources), streams)

    return router


class Streamed(StreamingResponse):
    """A stream that ends when its reader takes nothing, and gives its place to the next."""

    def __init__(self, told: AsyncIterator[str], streams: threading.BoundedSemaphore) -> None:
        super().__init__(told, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            with anyio.fail_after(SEND_SECONDS_MAX):
                await send(message)

        try:
            await super().__call__(scope, receive, sending)
        except (TimeoutError, ClientDisconnect):
            pass  # the connection ends with this call
        finally:
            self._streams.release()


async def messages(places: Places, sources: Sources) -> AsyncIterator[str]:
    """The stream's text, event by event, with a heartbeat where there is nothing to tell."""
    yield f"retry: {RETRY_MS}\n\n"
    told = monotonic()
    until = told + STREAM_SECONDS_MAX
    while not sources.stopping.is_set() and monotonic() < until:
        try:
            event = places.next()
        except sqlite3.DatabaseError:
            # The materializer looks into it; a reset follows.
            await anyio.sleep(RETRY_SECONDS)
            continue
        if event is not None:
            told = monotonic()
            yield str(event)
            if event.kind == "end":
                return
        elif monotonic() >= told + HEARTBEAT_SECONDS:
            told = monotonic()
            yield ": nothing new\n\n"
        else:
            pause = min(told + HEARTBEAT_SECONDS, until) - monotonic()
            await sources.commits.until(lambda: _woken(places, sources), pause)
    yield str(end(STOPPING if sources.stopping.is_set() else TOO_LONG))


def _woken(places: Places, sources: Sources) -> bool:
    return places.moved() or sources.stopping.is_set()
