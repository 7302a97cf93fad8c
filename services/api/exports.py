"""GET …/export: a whole view, or all views of a pipeline, at one marker."""

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from services.api import problems
from services.api.books import books
from services.api.marker import Marker, by_topic
from services.api.models import NoParameters
from services.api.pipelines import Name as PipelineName
from services.api.pipelines import unknown_pipeline
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.snapshots import Snapshot, Snapshots
from services.api.sources import Sources
from services.api.tables import Table, instant
from services.api.views import TABLES, Name, view_table

EXPORTS_MAX = 2
EXPORT_SECONDS_MAX = 600  # a reader slower than that would hold the file's log open for ever
ROWS_PER_CHUNK = 500
NDJSON = "application/x-ndjson"

Lines = Generator[bytes, None, None]

EXPORT_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {NDJSON: {"schema": {"type": "string"}}}},
    **problems.responses(
        HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE
    ),
}


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["views"])
    exports = threading.BoundedSemaphore(EXPORTS_MAX)

    @router.get(
        "/v1/views/{name}/export",
        operation_id="exportView",
        summary="The whole view at one marker, one JSON document per line",
        description="First a line with generation, marker, books and number of rows, then the "
        "rows in key order. An answer with fewer rows than announced was cut off.",
        response_class=StreamingResponse,
        responses=EXPORT_ANSWERS,
    )
    async def export_view(name: Name, query: Annotated[ViewQuery, Query()]) -> StreamingResponse:
        table = view_table(name)
        return _export(exports, await reached(sources, name, query), [table], {"view": name})

    @router.get(
        "/v1/pipelines/{pipeline}/export",
        operation_id="exportPipeline",
        summary="All views of a pipeline at one marker, one JSON document per line",
        description="First a line with generation, marker, books and the views with their number "
        "of rows, then the rows: view by view in that order, each in key order.",
        response_class=StreamingResponse,
        responses=EXPORT_ANSWERS,
    )
    async def export_pipeline(pipeline: PipelineName, _: NoParameters) -> StreamingResponse:
        served = sources.generations.served(pipeline)
        if served is None or served.snapshots is None:
            raise _no_pipeline(sources, pipeline)
        tables = [TABLES[view] for view in served.generation.views if view in TABLES]
        return _export(exports, served.snapshots, tables, {"pipeline": pipeline})

    return router


def _export(
    exports: threading.BoundedSemaphore,
    snapshots: Snapshots,
    tables: Sequence[Table],
    named: Mapping[str, str],
) -> "Export":
    if not exports.acquire(blocking=False):
        raise Problem(
            HTTPStatus.TOO_MANY_REQUESTS,
            "Too many exports",
            f"Expected at most {EXPORTS_MAX} exports at a time, found more. Try again when "
            "one of them has ended.",
            headers={"Retry-After": "5"},
        )
    return Export(_lines(snapshots, tables, named), exports)


def _no_pipeline(sources: Sources, pipeline: str) -> Problem:
    if pipeline not in sources.generations.promotions:
        return unknown_pipeline(sources, pipeline)
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Pipeline not loaded",
        f"Expected the views of {pipeline} loaded to a marker, found none. "
        f"GET /v1/pipelines/{pipeline} says why.",
        headers={"Retry-After": "1"},
    )


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


def _lines(snapshots: Snapshots, tables: Sequence[Table], named: Mapping[str, str]) -> Lines:
    with snapshots.reading() as snapshot:
        extents = [_extent(snapshot, table) for table in tables]
        told = {"views": extents} if "pipeline" in named else extents[0]
        yield _line({**named, **told, "books": books(snapshot), **_marker(snapshot.marker)})
        for table in tables:
            rows = snapshot.rows(f"{table.select} order by {', '.join(table.key)}")
            while chunk := rows.fetchmany(ROWS_PER_CHUNK):
                yield b"".join(_line(table.shown(row)) for row in chunk)


def _extent(snapshot: Snapshot, table: Table) -> dict[str, Any]:
    """How many rows there are, and from when on where older ones were dropped."""
    [[count]] = snapshot.rows(f"select count(*) from {table.name}")
    oldest_ms = snapshot.oldest_kept(table)
    oldest = None if oldest_ms is None else instant(oldest_ms)
    return {"view": table.view, "rows": count, "oldest_kept": oldest}


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
