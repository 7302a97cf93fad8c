"""GET /v1/stock: one shelf, or many of them."""

import json
from collections.abc import Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import STOCK_LEVELS, build_model
from services.api.http.answers import Dated, NextCursor, date
from services.api.http.parameters import (
    ID_CHARACTERS_MAX,
    FromStore,
    IdFilter,
    PageQuery,
    Sku,
    StoreId,
)
from services.api.http.read_your_writes import ViewParameters, ViewQuery, await_snapshots
from services.api.http.router import ITEM_PROBLEMS, Router, document_responses
from services.api.problem import NotFound
from services.api.routes.catalog import find_skus
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store
from services.api.store.tables import Condition, Document, Selection, Table, match

LOW_UNITS_MAX = 5  # a shelf that one customer may empty

STOCK = Table(STOCK_LEVELS)

router = Router(tags=["stock"])

StockLevel = build_model(STOCK_LEVELS)

Shelf: type[BaseModel] = create_model(
    "Shelf", __base__=(Dated, StockLevel), __doc__="One sku in one store."
)

StockPage: type[BaseModel] = create_model(
    "StockPage",
    __base__=Dated,
    __doc__="Some of the shelves, all at one marker.",
    items=(list[StockLevel], Field(description="the shelves of this page")),  # type: ignore[valid-type]  # made at run time
    next=(NextCursor, ...),
)


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
    State.LOW: f"units_on_hand between 1 and {LOW_UNITS_MAX}",
    State.NEGATIVE: "units_on_hand < 0",
    State.OUT: "units_on_hand = 0",
}


class StockQuery(ViewQuery, PageQuery):
    store_id: IdFilter = Field(None, description="shelves of this store only")
    sku: IdFilter = Field(None, description="shelves with this product only")
    search: str | None = Field(
        None,
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        description="shelves whose sku, product's name or category contains this text, "
        "in upper or lower case",
    )
    state: State | None = Field(
        None,
        description=f"low: 1 to {LOW_UNITS_MAX} units on hand; out: none; negative: more was sold "
        "than the log accounts for",
    )
    sort: Sort = Field(
        Sort.KEY, description="ascending, with a minus descending; the key settles what is equal"
    )


@router.get(
    "/v1/stock/{store_id}/{sku}", summary="One shelf", response_model=Shelf, responses=ITEM_PROBLEMS
)
async def get_shelf(
    store: FromStore, store_id: StoreId, sku: Sku, query: ViewParameters
) -> JSONResponse:
    snapshots = await await_snapshots(store, STOCK.view, query)
    # Reading one row takes less time than a worker thread.
    marker, row = snapshots.read_row(STOCK, (store_id, sku))
    if row is None:
        raise NotFound(
            "Unknown shelf",
            f"Expected a shelf that has had a movement, found none for {store_id}/{sku}. "
            "List the shelves there are with GET /v1/stock.",
        )
    return JSONResponse({**STOCK.to_json(row), **date(store, marker)})


@router.get(
    "/v1/stock",
    summary="Shelves, filtered, sorted, in pages",
    response_model=StockPage,
    responses=document_responses(HTTPStatus.GONE),
)
async def list_stock(store: FromStore, query: Annotated[StockQuery, Query()]) -> JSONResponse:
    snapshots = await await_snapshots(store, STOCK.view, query)
    return JSONResponse(await run_in_threadpool(_build_page, store, snapshots, query))


def _build_page(store: Store, snapshots: Snapshots, query: StockQuery) -> Document:
    # The filters and the sort, which stay the same from page to page.
    asked = query.model_dump(exclude={"limit", "cursor", "min_offset"}, exclude_none=True)
    skus = find_skus(store, query.search) if query.search else ()
    page, marker = query.read_page(snapshots, create_selection(query, skus), urlencode(asked))
    items = [STOCK.to_json(row) for row in page.items]
    return {"items": items, "next": page.next, **date(store, marker)}


def create_selection(query: StockQuery, skus: Sequence[str] = ()) -> Selection:
    """The rows that the query asks for; `skus`: the products that its text finds by name."""
    equal = query.model_dump(include={"store_id", "sku"}, exclude_none=True)
    conditions = [*match(equal)]
    if query.search is not None:
        either = "(instr(lower(sku), lower(?)) > 0 or sku in (select value from json_each(?)))"
        conditions.append(Condition(either, (query.search, json.dumps(skus))))
    if query.state is not None:
        conditions.append(Condition(CONDITIONS[query.state]))
    # The key comes last, so that no two rows are equal.
    order = STOCK.key if query.sort is Sort.KEY else (query.sort.lstrip("-"), *STOCK.key)
    return Selection(
        table=STOCK,
        conditions=tuple(conditions),
        order=order,
        descending=query.sort.startswith("-"),
    )
