"""GET …/export: a whole view, or all views of a pipeline, at one marker."""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from services.api.http.answers import LongAnswer
from services.api.http.parameters import FromStore, NoParameters
from services.api.http.read_your_writes import ViewQuery, await_snapshots
from services.api.http.router import ITEM_PROBLEMS, Responses, Router
from services.api.problem import Unavailable
from services.api.routes.export_formats import MEDIA_TYPES, RENDERERS, Format, Parts
from services.api.routes.pipelines import Name as PipelineName
from services.api.routes.pipelines import find_generations
from services.api.routes.views import TABLES, Name, find_table
from services.api.store.accounting import read_accounts
from services.api.store.marker import group_by_topic
from services.api.store.snapshots import Snapshot, Snapshots
from services.api.store.tables import Document, Table
from services.times import render_instant, render_instant_or_none

EXPORTS_MAX = 2
EXPORT_SECONDS_MAX = 600  # a slower reader would keep the file's log open without end
ROWS_PER_CHUNK = 500
NDJSON = MEDIA_TYPES[Format.NDJSON]

ANSWERS: Responses = {200: {"content": {NDJSON: {"schema": {"type": "string"}}}}, **ITEM_PROBLEMS}

router = Router(tags=["views"])


class ExportQuery(ViewQuery):
    format: Format = Field(
        Format.NDJSON,
        description="ndjson, csv, parquet, or a stream of arrow. Parquet and Arrow have the first "
        "line of ndjson as `head` in the metadata of their schema; csv has the rows alone",
    )


@router.get(
    "/v1/views/{name}/export",
    summary="The whole view at one marker: JSON lines, CSV, Parquet or Arrow",
    description="First a line with generation, marker, books and number of rows, then the "
    "rows in key order. An answer with fewer rows than announced was cut off.",
    response_class=StreamingResponse,
    responses={
        **ANSWERS,
        200: {"content": {kind: {"schema": {"type": "string"}} for kind in MEDIA_TYPES.values()}},
    },
)
async def export_view(
    request: Request, store: FromStore, name: Name, query: Annotated[ExportQuery, Query()]
) -> StreamingResponse:
    table = find_table(name)
    snapshots = await await_snapshots(store, name, query)
    if query.format is Format.NDJSON:
        return _stream(request, _render(snapshots, [table]))
    return _stream(request, _render_as(query.format, snapshots, table), MEDIA_TYPES[query.format])


@router.get(
    "/v1/pipelines/{pipeline}/export",
    summary="All views of a pipeline at one marker, one JSON document per line",
    description="First a line with generation, marker, books and the views with their number "
    "of rows, then the rows: view by view in that order, each in key order.",
    response_class=StreamingResponse,
    responses=ANSWERS,
)
async def export_pipeline(
    request: Request, store: FromStore, pipeline: PipelineName, _: NoParameters
) -> StreamingResponse:
    served = store.generations.find_served(pipeline)
    if served is None or served.snapshots is None:
        find_generations(store, pipeline)
        raise Unavailable(
            "Pipeline not loaded",
            f"Expected the views of {pipeline} loaded to a marker, found none. "
            f"GET /v1/pipelines/{pipeline} says why.",
        )
    tables = [TABLES[view] for view in served.generation.views if view in TABLES]
    return _stream(request, _render(served.snapshots, tables, pipeline))


def _stream(request: Request, parts: Parts, kind: str = NDJSON) -> LongAnswer:
    return LongAnswer(parts, kind, request.app.state.exports, EXPORT_SECONDS_MAX)


def _render_as(form: Format, snapshots: Snapshots, table: Table) -> Parts:
    """The rows of one view in a form that has a renderer."""
    with snapshots.open() as snapshot:
        head = {**_describe_extent(snapshot, table), **_describe_marker(snapshot)}
        yield from RENDERERS[form](table.contract, head, _select_rows(snapshot, table))


def _render(snapshots: Snapshots, tables: Sequence[Table], pipeline: str | None = None) -> Parts:
    """The head, then the rows of the tables: of one view, or of all views of a pipeline."""
    with snapshots.open() as snapshot:
        extents = [_describe_extent(snapshot, table) for table in tables]
        head = {"pipeline": pipeline, "views": extents} if pipeline else extents[0]
        yield _render_line({**head, **_describe_marker(snapshot)})
        for table in tables:
            for chunk in _select_rows(snapshot, table):
                yield b"".join(map(_render_line, chunk))


def _select_rows(snapshot: Snapshot, table: Table) -> Iterator[list[Document]]:
    """All rows in key order, as clients see them, a chunk at a time."""
    rows = snapshot.select(f"{table.select} order by {', '.join(table.key)}")
    while chunk := rows.fetchmany(ROWS_PER_CHUNK):
        yield [table.to_json(row) for row in chunk]


def _render_line(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _describe_extent(snapshot: Snapshot, table: Table) -> Document:
    """The number of rows of the view, and the start of its oldest kept rows."""
    [[count]] = snapshot.select(f"select count(*) from {table.name}")
    oldest = render_instant_or_none(snapshot.find_oldest_ms(table))
    return {"view": table.view, "rows": count, "oldest_kept": oldest}


def _describe_marker(snapshot: Snapshot) -> Document:
    """The accounting and the marker of all rows."""
    marker = snapshot.marker
    return {
        "books": [account.model_dump() for account in read_accounts(snapshot)],
        "generation": marker.generation,
        "marker": {
            "batch": marker.batch,
            "inputs": group_by_topic(marker.inputs),
            "outputs": group_by_topic(marker.outputs),
            "written_at": render_instant(marker.written_at_ms),
        },
    }
