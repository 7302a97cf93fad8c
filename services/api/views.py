"""GET /v1/views: where a view's changelog is, and the whole view at one marker."""

import json
import threading
from collections.abc import Generator
from http import HTTPStatus
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from contracts import CONTRACTS
from services.api import examples, problems
from services.api.books import books
from services.api.marker import Marker, by_topic
from services.api.models import NoParameters, View
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.snapshots import Snapshots
from services.api.sources import Sources
from services.api.tables import Table, instant

EXPORTS_MAX = 2
EXPORT_SECONDS_MAX = 600  # a reader slower than that would hold the file's log open for ever
ROWS_PER_CHUNK = 500
NDJSON = "application/x-ndjson"

Lines = Generator[bytes, None, None]
Name = Annotated[str, Path(description="the view's contract", max_length=200)]


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["views"])
    exports = threading.BoundedSemaphore(EXPORTS_MAX)

    @router.get(
        "/v1/views/{name}",
        operation_id="getView",
        summary="The promoted generation of a view, and the topic that carries it",
        response_model=View,
        responses=examples.ok(examples.VIEW)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def get_view(name: Name, _: NoParameters) -> JSONResponse:
        return JSONResponse(_where(sources, name))

    @router.get(
        "/v1/views/{name}/rows",
        operation_id="exportView",
        summary="The whole view at one marker, one JSON document per line",
        description="First a line with generation, marker, books and number of rows, then the "
        "rows in key order. An answer with fewer rows than announced was cut off.",
        response_class=StreamingResponse,
        responses={
            200: {"content": {NDJSON: {"schema": {"type": "string"}}}},
            **problems.responses(
                HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE
            ),
        },
    )
    async def export_view(name: Name, query: Annotated[ViewQuery, Query()]) -> StreamingResponse:
        table = view_table(name)
        snapshots = await reached(sources, name, query)
        if not exports.acquire(blocking=False):
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                "Too many exports",
                f"Expected at most {EXPORTS_MAX} exports at a time, found more. Try again when "
                "one of them has ended.",
                headers={"Retry-After": "5"},
            )
        return Export(_lines(snapshots, table), exports)

    return router


class Export(StreamingResponse):
    """A stream that ends in time, and gives its place to the next."""

    def __init__(self, lines: Lines, place: threading.BoundedSemaphore) -> None:
        super().__init__(lines, media_type=NDJSON)
        self._lines = lines
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.move_on_after(EXPORT_SECONDS_MAX):
                await super().__call__(scope, receive, send)
        finally:
            self._lines.close()
            self._place.release()


def _lines(snapshots: Snapshots, table: Table) -> Lines:
    with snapshots.reading() as snapshot:
        count = snapshot.rows(f"select count(*) from {table.name}").fetchone()[0]
        head = {"view": table.view, "rows": count, "books": books(snapshot)}
        yield _line({**head, **_marker(snapshot.marker)})
        rows = snapshot.rows(f"{table.select} order by {', '.join(table.key)}")
        while chunk := rows.fetchmany(ROWS_PER_CHUNK):
            yield b"".join(_line(table.shown(row)) for row in chunk)


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _marker(marker: Marker) -> dict[str, Any]:
    return {
        "generation": marker.generation,
        "marker": {
            "batch": marker.batch,
            "inputs": by_topic(marker.inputs),
            "outputs": by_topic(marker.outputs),
            "written_at": instant(marker.written_at_ms),
        },
    }


def _where(sources: Sources, name: str) -> dict[str, Any]:
    view_table(name)
    for pipeline, promotion in tuple(sources.generations.promotions.items()):
        promoted = promotion.generations.get(promotion.promoted or -1)
        if promoted is not None and name in promoted.topics:
            served = sources.generations.served(pipeline)
            return {
                "view": name,
                "pipeline": pipeline,
                "generation": promoted.number,
                "topic": promoted.topics[name],
                "served": served.generation.number if served and served.snapshots else None,
            }
    raise sources.missing(name)


def view_table(name: str) -> Table:
    """The table of a view; raises Problem where there is no such view."""
    views = sorted(each.name for each in CONTRACTS.values() if each.kind == "view")
    if name not in views:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "Unknown view",
            f"Expected one of {', '.join(views)}, found {name}.",
        )
    return Table(CONTRACTS[name])
