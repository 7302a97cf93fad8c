"""Routes with a noun of their own over a view that is much asked for, the newest rows first."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from contracts import ALERTS, VISITS
from services.api import examples
from services.api.models import RowPage
from services.api.reaching import ViewQuery
from services.api.rows import (
    PAGE_PROBLEMS,
    ROW_PROBLEMS,
    Key,
    Order,
    RowsQuery,
    listed,
    one,
)
from services.api.sources import Sources
from services.api.views import TABLES

CustomerId = Annotated[str, Path(description="the customer", max_length=192)]


@dataclass(frozen=True)
class Shortcut:
    """A view under a noun: /v1/NOUNS lists rows, /v1/NOUNS/KEY is one."""

    nouns: str
    noun: str
    view: str


SHORTCUTS = (Shortcut("alerts", "Alert", ALERTS.name),)


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["shortcuts"])
    for each in SHORTCUTS:
        _add(router, sources, each)

    @router.get(
        "/v1/customers/{customer_id}/visits",
        operation_id="listVisits",
        summary="The visits of a customer, the latest first",
        response_model=RowPage,
        responses=examples.ok(examples.ROW_PAGE) | PAGE_PROBLEMS,
    )
    async def list_visits(
        customer_id: CustomerId, query: Annotated[RowsQuery, Query()]
    ) -> JSONResponse:
        within = {"customer_id": customer_id, "status": "counted"}
        return JSONResponse(await listed(sources, TABLES[VISITS.name], query, Order.NEWEST, within))

    return router


def _add(router: APIRouter, sources: Sources, shortcut: Shortcut) -> None:
    table = TABLES[shortcut.view]

    @router.get(
        f"/v1/{shortcut.nouns}",
        operation_id=f"list{shortcut.noun}s",
        summary=f"Rows of {shortcut.view}, the newest first, filtered, in pages",
        response_model=RowPage,
        responses=examples.ok(examples.page(table)) | PAGE_PROBLEMS,
    )
    async def list_them(query: Annotated[RowsQuery, Query()]) -> JSONResponse:
        return JSONResponse(await listed(sources, table, query, Order.NEWEST))

    @router.get(
        f"/v1/{shortcut.nouns}/{{key:path}}",
        operation_id=f"get{shortcut.noun}",
        summary=f"One row of {shortcut.view}, by {'/'.join(table.key)}",
        response_model=dict[str, Any],
        responses=examples.ok(examples.row(table)) | ROW_PROBLEMS,
    )
    async def get_it(key: Key, query: Annotated[ViewQuery, Query()]) -> JSONResponse:
        return JSONResponse(await one(sources, table, key, query))
