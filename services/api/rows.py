"""GET /v1/views/{name}/rows: the rows of any view, by key, or filtered, in order and in pages.

What can be asked follows from the view's contract, so a new view needs nothing here.
"""

from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from services.api import examples, filters, problems
from services.api.cursors import CHARACTERS_MAX
from services.api.finality import Finality
from services.api.models import RowPage
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.selecting import LIMIT_DEFAULT, LIMIT_MAX, Selection
from services.api.snapshots import Snapshots
from services.api.sources import Sources
from services.api.tables import Table
from services.api.views import Name, view_table

KEY_CHARACTERS_MAX = 1_024
NOTHING: Mapping[str, str] = MappingProxyType({})

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


class RowsQuery(ViewQuery):
    """Every other parameter is a filter: a field of the view, and the value that it must have."""

    model_config = ConfigDict(extra="allow")

    start: str | None = Field(
        None, alias=filters.FROM, description="rows from this time on, by the time in their key"
    )
    until: str | None = Field(None, description="rows before this time")
    order: Order | None = Field(
        None, description="key: ascending; newest: the latest time in the key first"
    )
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="rows per page")
    cursor: str | None = Field(
        None, max_length=CHARACTERS_MAX, description="`next` of the page before"
    )

    def asked(self) -> dict[str, object]:
        """The filters by name, as they were spelled."""
        times = {filters.FROM: self.start, filters.UNTIL: self.until}
        return {**(self.model_extra or {}), **{n: at for n, at in times.items() if at is not None}}


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["views"])

    @router.get(
        "/v1/views/{name}/rows",
        operation_id="listRows",
        summary="Rows of a view, filtered, in pages",
        description="Filters are the fields of the key and every text, by name, and for a view "
        "with a time in its key `from` and `until`; GET /v1/views lists them. `final` says of a "
        "window's row that nothing can change it any more.",
        response_model=RowPage,
        responses=examples.ok(examples.ROW_PAGE) | PAGE_PROBLEMS,
    )
    async def list_rows(name: Name, query: Annotated[RowsQuery, Query()]) -> JSONResponse:
        return JSONResponse(await listed(sources, view_table(name), query))

    @router.get(
        "/v1/views/{name}/rows/{key:path}",
        operation_id="getRow",
        summary="One row of a view",
        response_model=dict[str, Any],
        responses=examples.ok(examples.SHELF) | ROW_PROBLEMS,
    )
    async def get_row(name: Name, key: Key, query: Annotated[ViewQuery, Query()]) -> JSONResponse:
        return JSONResponse(await one(sources, view_table(name), key, query))

    return router


PAGE_PROBLEMS = problems.responses(
    HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.SERVICE_UNAVAILABLE
)
ROW_PROBLEMS = problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)


async def listed(
    sources: Sources,
    table: Table,
    query: RowsQuery,
    order: Order = Order.KEY,
    within: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """One page of the view's rows, in this order unless the query says another.

    `within` are filters that the route has, beside those of the query.
    """
    selection = _selection(table, {**query.asked(), **within}, query.order or order)
    snapshots = await reached(sources, table.view, query)
    return await run_in_threadpool(_page, sources, snapshots, selection, query)


async def one(sources: Sources, table: Table, key: str, query: ViewQuery) -> dict[str, Any]:
    """The row under a key, as the path spells it; raises Problem where there is none."""
    values = filters.key_values(table.contract, key)
    snapshots = await reached(sources, table.view, query)
    # Reading one row is shorter than the way to a worker thread and back.
    with snapshots.reading() as snapshot:
        row = snapshot.rows(table.select_one, values).fetchone()
    if row is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "Unknown row",
            f"Expected a row of {table.view} under {'/'.join(table.key)}, found none for {key}. "
            f"List the rows there are with GET /v1/views/{table.view}/rows.",
        )
    final = Finality(sources, table, snapshot.marker).told(row)
    return {**table.shown(row), **final, **sources.dated(snapshot.marker)}


def _selection(table: Table, asked: Mapping[str, object], order: Order) -> Selection:
    view = table.contract
    if order is Order.NEWEST and view.began is None:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "Invalid order",
            f"order: expected key, found newest; {view.name} has no time in its key.",
        )
    newest = (str(view.began), *(name for name in view.key if name != view.began))
    return Selection(
        table=table,
        conditions=filters.conditions(view, asked),
        order=newest if order is Order.NEWEST else view.key,
        descending=order is Order.NEWEST,
        question=filters.question(asked, order),
    )


def _page(
    sources: Sources, snapshots: Snapshots, selection: Selection, query: RowsQuery
) -> dict[str, Any]:
    table = selection.table
    with snapshots.reading() as snapshot:
        rows, following = selection.page(snapshot, query.limit, query.cursor)
    finality = Finality(sources, table, snapshot.marker)
    return {
        "view": table.view,
        "items": [table.shown(row) | finality.told(row) for row in rows],
        "next": following,
        **sources.dated(snapshot.marker),
    }
