"""GET /v1/products/{sku}/stock: one product in every store."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from contracts import STOCK_LEVELS
from services.api import examples, problems
from services.api.models import ProductStock
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.snapshots import Snapshots
from services.api.sources import Sources
from services.api.stock import Sku
from services.api.tables import Table

STORES_MAX = 10_000  # as many as the simulator can have

STOCK = Table(STOCK_LEVELS)
SUMMED = tuple(field.name for field in STOCK_LEVELS.fields if field.unit == "units")
BY_STORE = f"{STOCK.select} where sku = ? order by store_id limit {STORES_MAX}"


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["products"])

    @router.get(
        "/v1/products/{sku}/stock",
        operation_id="getProductStock",
        summary="One product in every store, and the totals",
        response_model=ProductStock,
        responses=examples.ok(examples.PRODUCT)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_product_stock(sku: Sku, query: Annotated[ViewQuery, Query()]) -> JSONResponse:
        snapshots = await reached(sources, STOCK.view, query)
        return JSONResponse(await run_in_threadpool(_stocked, sources, snapshots, sku))

    return router


def _stocked(sources: Sources, snapshots: Snapshots, sku: str) -> dict[str, Any]:
    with snapshots.reading() as snapshot:
        stores = [STOCK.shown(row) for row in snapshot.rows(BY_STORE, (sku,))]
    if not stores:
        raise _unknown_product(sku)
    answer = {"sku": sku, "totals": _totals(stores), "stores": stores}
    return {**answer, **sources.dated(snapshot.marker)}


def _totals(stores: list[dict[str, Any]]) -> dict[str, int]:
    sums = {name: sum(shelf[name] for shelf in stores) for name in SUMMED}
    return {"stores": len(stores), **sums}


def _unknown_product(sku: str) -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        "Unknown product",
        f"Expected a product with a movement in some store, found none for {sku}. "
        "List the shelves there are with GET /v1/stock.",
    )
