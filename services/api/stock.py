"""GET /v1/stock: one shelf, or many of them, filtered, sorted and in pages."""

from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import STOCK_LEVELS
from services.api import examples, problems
from services.api.cursors import CHARACTERS_MAX
from services.api.models import Shelf, StockPage
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.selecting import LIMIT_DEFAULT, LIMIT_MAX, Condition, Selection
from services.api.snapshots import Snapshot, Snapshots
from services.api.sources import Sources
from services.api.tables import Table

LOW_UNITS_MAX = 5  # a shelf that one customer may empty
ID_CHARACTERS_MAX = 64

STOCK = Table(STOCK_LEVELS)
ONE_SHELF = f"{STOCK.select} where store_id = ? and sku = ?"

StoreId = Annotated[str, Path(description="the store", max_length=ID_CHARACTERS_MAX)]
Sku = Annotated[str, Path(description="the product", max_length=ID_CHARACTERS_MAX)]


class State(StrEnum):
    LOW = "low"
    NEGATIVE = "negative"
    OUT = "out"


class Sort(StrEnum):
    KEY = "key"
    FEWEST = "units_on_hand"
    MOST = "-units_on_hand"
    OLDEST = "last_event_time"
    NEWEST = "-last_event_time"


CONDITIONS = {
    State.LOW: "units_on_hand > 0 and units_on_hand <= ?",
    State.NEGATIVE: "units_on_hand < 0",
    State.OUT: "units_on_hand = 0",
}


class StockQuery(ViewQuery):
    store_id: str | None = Field(
        None, max_length=ID_CHARACTERS_MAX, description="shelves of this store only"
    )
    sku: str | None = Field(
        None, max_length=ID_CHARACTERS_MAX, description="shelves with this product only"
    )
    state: State | None = Field(
        None,
        description="low: 1 to low_max units on hand; out: none; negative: more was sold than "
        "the log accounts for",
    )
    low_max: int = Field(
        LOW_UNITS_MAX, ge=1, le=1_000_000, description="the most units that still count as low"
    )
    sort: Sort = Field(
        Sort.KEY, description="ascending, with a minus descending; the key settles what is equal"
    )
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="shelves per page")
    cursor: str | None = Field(
        None, max_length=CHARACTERS_MAX, description="`next` of the page before"
    )

    def question(self) -> str:
        """What has to stay the same from page to page."""
        return urlencode(
            self.model_dump(exclude={"limit", "cursor", "min_offset"}, exclude_none=True)
        )


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["stock"])

    @router.get(
        "/v1/stock/{store_id}/{sku}",
        operation_id="getShelf",
        summary="One shelf",
        response_model=Shelf,
        responses=examples.ok(examples.SHELF)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_shelf(
        store_id: StoreId, sku: Sku, query: Annotated[ViewQuery, Query()]
    ) -> JSONResponse:
        snapshots = await reached(sources, STOCK.view, query)
        # Reading one row is shorter than the way to a worker thread and back.
        with snapshots.reading() as snapshot:
            row = snapshot.rows(ONE_SHELF, (store_id, sku)).fetchone()
        if row is None:
            raise _unknown_shelf(store_id, sku)
        return JSONResponse({**STOCK.shown(row), **sources.dated(snapshot.marker)})

    @router.get(
        "/v1/stock",
        operation_id="listStock",
        summary="Shelves, filtered, sorted, in pages",
        response_model=StockPage,
        responses=examples.ok(examples.PAGE)
        | problems.responses(HTTPStatus.GONE, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def list_stock(query: Annotated[StockQuery, Query()]) -> JSONResponse:
        snapshots = await reached(sources, STOCK.view, query)
        return JSONResponse(await run_in_threadpool(_listed, sources, snapshots, query))

    return router


def _listed(sources: Sources, snapshots: Snapshots, query: StockQuery) -> dict[str, Any]:
    with snapshots.reading() as snapshot:
        items, following = page(snapshot, query)
    return {"items": items, "next": following, **sources.dated(snapshot.marker)}


def page(snapshot: Snapshot, query: StockQuery) -> tuple[list[dict[str, Any]], str | None]:
    """One page of shelves, and the cursor of the next; None on the last page."""
    rows, following = _selection(query).page(snapshot, query.limit, query.cursor)
    return [STOCK.shown(row) for row in rows], following


def sort_columns(sort: Sort) -> tuple[str, ...]:
    """What orders the rows: the column asked for, then the key, so that no two are equal."""
    return STOCK.key if sort is Sort.KEY else (sort.lstrip("-"), *STOCK.key)


def _selection(query: StockQuery) -> Selection:
    conditions = [
        Condition(f"{column} = ?", (wanted,))
        for column, wanted in (("store_id", query.store_id), ("sku", query.sku))
        if wanted is not None
    ]
    if query.state is not None:
        values = (query.low_max,) if query.state is State.LOW else ()
        conditions.append(Condition(CONDITIONS[query.state], values))
    return Selection(
        table=STOCK,
        conditions=tuple(conditions),
        order=sort_columns(query.sort),
        descending=query.sort.startswith("-"),
        question=query.question(),
    )


def _unknown_shelf(store_id: str, sku: str) -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        "Unknown shelf",
        f"Expected a shelf that has had a movement, found none for {store_id}/{sku}. "
        "List the shelves there are with GET /v1/stock.",
    )
