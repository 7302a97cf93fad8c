"""GET /v1/products/{sku}/stock: one product in every store."""

from collections.abc import Sequence

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import STOCK_LEVELS
from services.api.http.answers import Dated, date
from services.api.http.parameters import Sku
from services.api.http.problems import ITEM_PROBLEMS, NotFound, Problem
from services.api.http.read_your_writes import ViewParameters, await_snapshots
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.routes.stock import STOCK, StockLevel
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store
from services.api.store.tables import AnyJson, Document, Stored

STORES_MAX = 10_000
"""The most shelves listed: as many as the simulator can have. Totals cover all shelves."""

SUMMED = {field.name: field for field in STOCK_LEVELS.fields if field.unit == "units"}
BY_STORE = f"{STOCK.select} where sku = ? order by store_id"

router = Router(tags=["products"])


def _define_sums() -> AnyJson:
    """The view's units, each summed, for `create_model`."""
    return {
        name: (int, Field(description=field.description, json_schema_extra={"unit": "units"}))
        for name, field in SUMMED.items()
    }


Totals: type[BaseModel] = create_model(
    "Totals",
    __doc__="Sums over all stores.",
    stores=(int, Field(description="stores where the product has had a movement")),
    **_define_sums(),
)

ProductStock: type[BaseModel] = create_model(
    "ProductStock",
    __base__=Dated,
    __doc__="One product in every store.",
    sku=(str, Field(description="the product")),
    totals=(Totals, Field(description="sums over all stores")),
    stores=(
        list[StockLevel],  # type: ignore[valid-type]  # made at run time
        Field(description=f"the shelves, by store; the first {STORES_MAX:,}"),
    ),
)


@router.get(
    "/v1/products/{sku}/stock",
    summary="One product in every store, and the totals",
    **examples.answer(ProductStock, examples.PRODUCT, ITEM_PROBLEMS),
)
async def get_product_stock(store: FromStore, sku: Sku, query: ViewParameters) -> JSONResponse:
    snapshots = await await_snapshots(store, STOCK.view, query)
    return JSONResponse(await run_in_threadpool(_build_product, store, snapshots, sku))


def _build_product(store: Store, snapshots: Snapshots, sku: str) -> Document:
    with snapshots.open() as snapshot:
        rows = snapshot.select(BY_STORE, (sku,)).fetchall()
    if not rows:
        raise _describe_unknown(sku)
    return {
        "sku": sku,
        "totals": _sum(rows),
        "stores": [STOCK.to_json(row) for row in rows[:STORES_MAX]],
        **date(store, snapshot.marker),
    }


def _sum(rows: Sequence[Stored]) -> dict[str, int]:
    places = {name: STOCK.columns.index(name) for name in SUMMED}
    sums = {name: sum(row[at] for row in rows) for name, at in places.items()}
    return {"stores": len(rows), **sums}


def _describe_unknown(sku: str) -> Problem:
    return NotFound(
        "Unknown product",
        f"Expected a product with a movement in some store, found none for {sku}. "
        "List the shelves there are with GET /v1/stock.",
    )
