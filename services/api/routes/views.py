"""GET /v1/views: the views, their filters, and the progress of each.

GET /v1/views/{name}/rows: the rows of any view, by key, or filtered, in order and in pages. The
filters follow from the view's contract, so a new view needs no code here. GET /v1/alerts is a short
way to the rows of one view.
"""

from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from contracts import ALERTS, BOOKS, CONTRACTS
from services.api.http import filters
from services.api.http.answers import Dated, NextCursor, date
from services.api.http.parameters import FromStore, NoParameters, PageQuery
from services.api.http.read_your_writes import ViewParameters, ViewQuery, await_snapshots
from services.api.http.router import ITEM_PROBLEMS, Router, document_responses
from services.api.problem import Invalid, NotFound
from services.api.store.finality import Finality
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store
from services.api.store.tables import AnyJson, Document, Selection, Table
from services.times import render_instant, render_instant_or_none

router = Router(tags=["views"])

Name = Annotated[str, Path(description="the view's contract", max_length=200)]

TABLES = {
    each.name: Table(each)
    for _, each in sorted(CONTRACTS.items())
    if each.kind == "view" and each is not BOOKS  # the accounting rows of all pipelines
}
"""The table of each view that a pipeline may carry, by the name of its contract."""


class View(BaseModel):
    """Where a view's rows are published, for readers of the log."""

    view: str = Field(description="the contract")
    pipeline: str | None = Field(description="who writes it; null: nobody does")
    generation: int | None = Field(description="the promoted generation; null: there is none")
    topic: str | None = Field(description="the changelog of that generation")
    served: int | None = Field(
        description="the generation that this API answers from; null: none is loaded"
    )
    batch: int | None = Field(description="the pipeline's batch that it ends with")
    written_at: str | None = Field(description="when that batch's marker was written")
    rows: int | None = Field(description="how many rows it has")
    oldest_kept: str | None = Field(
        description="older rows were dropped; null: every row is kept, or there is none"
    )
    filters: list[str] = Field(description="what GET /v1/views/{name}/rows takes")


class Views(BaseModel):
    views: list[View]


@router.get(
    "/v1/views",
    summary="Every view: its filters, who writes it, and how far it has come",
    response_model=Views,
)
def list_views(store: FromStore, _: NoParameters) -> JSONResponse:
    return JSONResponse({"views": [_describe(store, table) for table in TABLES.values()]})


@router.get(
    "/v1/views/{name}",
    summary="One view, the promoted generation of it, and the topic that carries it",
    response_model=View,
    responses=ITEM_PROBLEMS,
)
def get_view(store: FromStore, name: Name, _: NoParameters) -> JSONResponse:
    view = _describe(store, find_table(name))
    if view["generation"] is None:
        raise store.create_missing(name)
    return JSONResponse(view)


def find_table(name: str) -> Table:
    """The table of a view. Raises Problem if there is no such view."""
    if name not in TABLES:
        raise NotFound("Unknown view", f"Expected one of {', '.join(TABLES)}, found {name}.")
    return TABLES[name]


def _describe(store: Store, table: Table) -> Document:
    every = [each.promoted for each in tuple(store.generations.by_pipeline.values())]
    promoted = next((each for each in every if each and table.view in each.views), None)
    return {
        "view": table.view,
        "pipeline": promoted.pipeline if promoted else None,
        "generation": promoted.number if promoted else None,
        "topic": promoted.outputs[table.view] if promoted else None,
        **_describe_served(store, table),
        "filters": filters.list_filters(table.contract),
    }


def _describe_served(store: Store, table: Table) -> Document:
    """The generation that the API serves; all null while it serves none."""
    served = store.generations.find_view(table.view)
    if served is None or served.snapshots is None:
        return dict.fromkeys(("served", "batch", "written_at", "rows", "oldest_kept"))
    with served.snapshots.open() as snapshot:
        [[rows]] = snapshot.select(f"select count(*) from {table.name}")
        oldest_ms = snapshot.find_oldest_ms(table)
    return {
        "served": served.generation.number,
        "batch": snapshot.marker.batch,
        "written_at": render_instant(snapshot.marker.written_at_ms),
        "rows": rows,
        "oldest_kept": render_instant_or_none(oldest_ms),
    }


KEY_CHARACTERS_MAX = 1_024
ALERT_ROWS = TABLES[ALERTS.name]

PAGE_PROBLEMS = document_responses(HTTPStatus.NOT_FOUND, HTTPStatus.GONE)

Key = Annotated[
    str,
    Path(
        description="the fields of the key, joined by a slash; a time in ISO 8601 or milliseconds",
        max_length=KEY_CHARACTERS_MAX,
    ),
]


class Order(StrEnum):
    KEY = "key"
    NEWEST = "newest"


class RowsQuery(ViewQuery, PageQuery):
    """Every other parameter is a filter: a field of the view, and the value that it must have."""

    model_config = ConfigDict(extra="allow")

    start: str | None = Field(
        None, alias=filters.FROM, description="rows from this time on, by the time in their key"
    )
    until: str | None = Field(None, description="rows before this time")
    order: Order | None = Field(
        None, description="key: ascending; newest: the latest time in the key first"
    )

    def list_filters(self) -> dict[str, object]:
        """The filters: field and text of the value."""
        asked = {**(self.model_extra or {}), filters.FROM: self.start, filters.UNTIL: self.until}
        return {name: value for name, value in asked.items() if value is not None}


RowsParameters = Annotated[RowsQuery, Query()]


class RowPage(Dated):
    """Some of a view's rows, all at one marker."""

    view: str = Field(description="the contract, which says what the rows' fields mean")
    items: list[AnyJson] = Field(
        description="the rows of this page; `final` says of a window's row that nothing can "
        "change it any more"
    )
    next: NextCursor


@router.get(
    "/v1/views/{name}/rows",
    summary="Rows of a view, filtered, in pages",
    description="Filters are the fields of the key and every text, by name, and for a view "
    "with a time in its key `from` and `until`; GET /v1/views lists them. `final` says of a "
    "window's row that nothing can change it any more.",
    response_model=RowPage,
    responses=PAGE_PROBLEMS,
)
async def list_rows(store: FromStore, name: Name, query: RowsParameters) -> JSONResponse:
    return JSONResponse(await list_rows_of(store, find_table(name), query))


@router.get(
    "/v1/views/{name}/rows/{key:path}",
    summary="One row of a view",
    response_model=AnyJson,
    responses=ITEM_PROBLEMS,
)
async def get_row(store: FromStore, name: Name, key: Key, query: ViewParameters) -> JSONResponse:
    return JSONResponse(await find_row(store, find_table(name), key, query))


@router.get(
    "/v1/alerts",
    summary=f"Rows of {ALERT_ROWS.view}, the newest first, filtered, in pages",
    response_model=RowPage,
    responses=PAGE_PROBLEMS,
)
async def list_alerts(store: FromStore, query: RowsParameters) -> JSONResponse:
    return JSONResponse(await list_rows_of(store, ALERT_ROWS, query, Order.NEWEST))


@router.get(
    "/v1/alerts/{key:path}",
    summary=f"One row of {ALERT_ROWS.view}, by {'/'.join(ALERT_ROWS.key)}",
    response_model=AnyJson,
    responses=ITEM_PROBLEMS,
)
async def get_alert(store: FromStore, key: Key, query: ViewParameters) -> JSONResponse:
    return JSONResponse(await find_row(store, ALERT_ROWS, key, query))


async def list_rows_of(
    store: Store, table: Table, query: RowsQuery, order: Order = Order.KEY
) -> Document:
    """One page of the view's rows, in this order unless the query names another. Raises Problem."""
    order = query.order or order
    asked = query.list_filters()
    selection = _create_selection(table, asked, order)
    snapshots = await await_snapshots(store, table.view, query)
    question = filters.render_question(asked, order)
    return await run_in_threadpool(_build_page, store, snapshots, selection, question, query)


async def find_row(store: Store, table: Table, key: str, query: ViewQuery) -> Document:
    """The row under a key, as in the path. Raises Problem if there is none."""
    values = filters.parse_key(table.contract, key)
    snapshots = await await_snapshots(store, table.view, query)
    # Reading one row takes less time than a worker thread.
    marker, row = snapshots.read_row(table, values)
    if row is None:
        raise NotFound(
            "Unknown row",
            f"Expected a row of {table.view} under {'/'.join(table.key)}, found none for {key}. "
            f"List the rows there are with GET /v1/views/{table.view}/rows.",
        )
    final = Finality(store, table, marker).to_json(row)
    return {**table.to_json(row), **final, **date(store, marker)}


def _create_selection(table: Table, asked: Mapping[str, object], order: Order) -> Selection:
    view = table.contract
    if order is Order.NEWEST and view.began is None:
        raise Invalid(
            "Invalid order",
            f"order: expected key, found newest; {view.name} has no time in its key.",
        )
    newest = (str(view.began), *(name for name in view.key if name != view.began))
    return Selection(
        table=table,
        conditions=filters.parse_conditions(view, asked),
        order=newest if order is Order.NEWEST else view.key,
        descending=order is Order.NEWEST,
    )


def _build_page(
    store: Store, snapshots: Snapshots, selection: Selection, question: str, query: RowsQuery
) -> Document:
    table = selection.table
    page, marker = query.read_page(snapshots, selection, question)
    finality = Finality(store, table, marker)
    return {
        "view": table.view,
        "items": [{**table.to_json(row), **finality.to_json(row)} for row in page.items],
        "next": page.next,
        **date(store, marker),
    }
