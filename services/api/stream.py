"""GET /v1/stream: a view's changes as they are committed, as server-sent events.

Nothing is kept per reader but a place in the change log, so a slow one costs nothing; when the log
has moved on past its place, it is told so and cut off.
"""

import asyncio
import json
import re
import sqlite3
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Annotated

import anyio
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from services.api import changes, problems
from services.api.models import Parameters
from services.api.problems import Problem
from services.api.snapshots import Snapshot, Snapshots
from services.api.sources import Sources
from services.api.views import view_table

STREAMS_MAX = 32
STREAM_SECONDS_MAX = 3_600.0
SEND_SECONDS_MAX = 10.0  # a reader that takes nothing for so long is gone
HEARTBEAT_SECONDS = 10.0
POLL_SECONDS = 0.05  # between looks at the marker in memory
RETRY_MS = 1_000  # after which a reader should come back
EVENT_STREAM = "text/event-stream"

EVENT_ID = re.compile(r"(\d{1,18})-(\d{1,18})")
BEGINS = "the stream begins here"
GENERATION = "another generation is served"
FORGOTTEN = "the change log no longer, or not yet, holds what came after the event named"
TOO_MANY = f"more than {changes.ROWS_PER_CHANGE_MAX} rows changed at once"
TOO_SLOW = "read too slowly: the change log has moved on"
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
    view: str = Field(max_length=200, description="the view's contract")


@dataclass(frozen=True)
class Event:
    """One message: change, reset (fetch the view, then go on here) or end (come back later)."""

    kind: str
    data: str
    id: str | None = None

    def __str__(self) -> str:
        identity = "" if self.id is None else f"id: {self.id}\n"
        return f"{identity}event: {self.kind}\ndata: {self.data}\n\n"


class Place:
    """One reader's place in a view's changes."""

    def __init__(self, sources: Sources, view: str, last_event_id: str | None) -> None:
        self._sources = sources
        self._view = view
        self._resumed = last_event_id
        self._snapshots: Snapshots | None = None  # the ones that the place is in
        self._number = 0
        self._marker: object = None  # up to which everything was handed out

    def next(self) -> Event | None:
        """What the reader is to be told next; None while nothing has changed."""
        served = self._sources.generations.serving(self._view)
        snapshots = served.snapshots if served else None
        if served is None or snapshots is None:
            return None  # being made anew; a reset follows when it is there
        marker = served.marker
        if snapshots is self._snapshots and marker is self._marker:
            return None
        with snapshots.reading() as snapshot:
            event = None
            if snapshots is not self._snapshots:
                event = self._enter(snapshot, snapshots)
            event = event or self._advance(snapshot)
        if event is None:
            self._marker = marker
        return event

    def _enter(self, snapshot: Snapshot, snapshots: Snapshots) -> Event | None:
        """Take the place after the event named, if it is there; else begin at the marker."""
        first = self._snapshots is None
        self._snapshots, self._number = snapshots, changes.kept(snapshot)[1]
        resumed = EVENT_ID.fullmatch(self._resumed or "")
        self._resumed = None
        if resumed is None:
            return self._reset(snapshot, BEGINS if first else GENERATION)
        generation, batch = map(int, resumed.groups())
        if generation != snapshot.marker.generation:
            return self._reset(snapshot, GENERATION)
        number = changes.place(snapshot, self._view, batch)
        if number is None:
            return self._reset(snapshot, FORGOTTEN)
        self._number = number
        return None

    def _advance(self, snapshot: Snapshot) -> Event | None:
        if self._number < changes.kept(snapshot)[0] - 1:
            return end(TOO_SLOW)
        change = changes.following(snapshot, self._view, self._number)
        if change is None:
            return None
        self._number = change.number
        generation = snapshot.marker.generation
        if change.rows is None:
            return self._reset(snapshot, TOO_MANY, change.batch)
        head = {"view": self._view, "generation": generation, "batch": change.batch}
        data = f'{json.dumps(head, separators=(",", ":"))[:-1]},"rows":{change.rows}}}'
        return Event("change", data, f"{generation}-{change.batch}")

    def _reset(self, snapshot: Snapshot, reason: str, batch: int | None = None) -> Event:
        at = snapshot.marker.batch if batch is None else batch
        told = {
            "view": self._view,
            "generation": snapshot.marker.generation,
            "batch": at,
            "reason": reason,
            "fetch": f"/v1/views/{self._view}/rows",
        }
        return Event("reset", json.dumps(told), f"{snapshot.marker.generation}-{at}")


def end(reason: str) -> Event:
    return Event("end", json.dumps({"reason": reason}))


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["stream"])
    streams = threading.BoundedSemaphore(STREAMS_MAX)

    @router.get(
        "/v1/stream",
        operation_id="streamView",
        summary="The changes of a view, as server-sent events",
        description="One `change` per committed marker with the rows that it changed, as they "
        "stand at it; its id is generation-batch. A `reset`, the first event too, says: fetch the "
        "view, and apply the changes of later batches. A reader that comes back with Last-Event-ID "
        "gets what it missed, or a `reset`. An `end` is the last event and says why.",
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
        view_table(query.view)
        sources.snapshots(query.view)
        if not streams.acquire(blocking=False):
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                "Too many streams",
                f"Expected at most {STREAMS_MAX} streams at a time, found more. Try again when "
                "one of them has ended.",
                headers={"Retry-After": "5"},
            )
        place = Place(sources, query.view, last_event_id)
        return Streamed(messages(place, sources.stopping), streams)

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


async def messages(place: Place, stopping: threading.Event) -> AsyncIterator[str]:
    """The stream's text, event by event, with a heartbeat where there is nothing to tell."""
    yield f"retry: {RETRY_MS}\n\n"
    began = told = monotonic()
    while not stopping.is_set() and monotonic() < began + STREAM_SECONDS_MAX:
        event = _next(place)
        if event is not None:
            told = monotonic()
            yield str(event)
            if event.kind == "end":
                return
        elif monotonic() >= told + HEARTBEAT_SECONDS:
            told = monotonic()
            yield ": nothing new\n\n"
        else:
            await asyncio.sleep(POLL_SECONDS)
    yield str(end(STOPPING if stopping.is_set() else TOO_LONG))


def _next(place: Place) -> Event | None:
    try:
        return place.next()
    except sqlite3.DatabaseError:
        return None  # the materializer looks into it; a reset follows
