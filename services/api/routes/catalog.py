"""GET /v1/products, /v1/stores and /v1/suppliers: the catalogue, as it holds now in world time."""

import sqlite3
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import PRICE_CHANGES, PRODUCTS, STORES, Contract, build_model
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.parameters import ID_CHARACTERS_MAX, FromStore, PageParameters, PageQuery
from services.api.http.router import Router
from services.api.routes.prices import HOLDING
from services.api.store.mirror import Layout, read_offsets
from services.api.store.mirrored import ADDED, OPENED, PRICES, SOLD
from services.api.store.store import Store
from services.api.store.tables import AnyJson, Condition, Document, Selection, Stored

SKUS_MAX = 50
CHANGE = ("event_id", "event_time", "effective_at", *(field.name for field in ADDED))
"""What says of a change when it was made; an item of a list is without it."""
CENTS: AnyJson = {"unit": "cents"}
HOURS: AnyJson = {"unit": "hours"}
CONTAINS = "instr(lower(name || char(10) || sku || char(10) || category), lower(?)) > 0"

router = Router(tags=["catalogue"])


class ProductsQuery(PageQuery):
    q: str | None = Field(
        None,
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        description="products whose name, sku or category contains this, in upper or lower case",
    )
    sku: list[Annotated[str, Field(max_length=ID_CHARACTERS_MAX)]] = Field(
        default_factory=list, max_length=SKUS_MAX, description="only these products"
    )


def _build_item(name: str, contract: Contract) -> type[BaseModel]:
    """The model of what the catalogue says of a product or store."""
    fields: AnyJson = {
        field: (info.annotation, info)
        for field, info in build_model(contract).model_fields.items()
        if field not in CHANGE
    }
    return create_model(name, **fields)


class CatalogProduct(_build_item("Product", PRODUCTS)):  # type: ignore[misc]  # made at run time
    """A product, and what it costs now."""

    price_cents: int | None = Field(
        description="its price by the piece or measure; null: none holds yet",
        json_schema_extra=CENTS,
    )


class ProductPage(TopicsPage):
    items: list[CatalogProduct] = Field(description="by sku")


CatalogStore = _build_item("CatalogStore", STORES)
StorePage: type[BaseModel] = create_model(
    "StorePage",
    __base__=TopicsPage,
    items=(list[CatalogStore], Field(description="by id")),  # type: ignore[valid-type]  # made at run time
)


class Supplier(BaseModel):
    supplier_id: str
    products: int = Field(description="products that it delivers now")
    lead_time_hours_min: int = Field(description="of its products", json_schema_extra=HOURS)
    lead_time_hours_max: int = Field(description="of its products", json_schema_extra=HOURS)


class SupplierPage(TopicsPage):
    items: list[Supplier] = Field(description="by id")


@router.get(
    "/v1/products",
    summary="What products are called and cost now, in pages",
    response_model=ProductPage,
)
def list_products(store: FromStore, query: Annotated[ProductsQuery, Query()]) -> JSONResponse:
    now_ms = store.get_world_ms()
    conditions = [_hold(SOLD, now_ms)]
    if query.q is not None:
        conditions.append(Condition(CONTAINS, (query.q,)))
    if query.sku:
        places = ", ".join("?" for _ in query.sku)
        conditions.append(Condition(f"sku in ({places})", tuple(query.sku)))
    selection = Selection(SOLD.table, tuple(conditions), SOLD.table.contract.key, descending=False)
    question = f"products of {query.q} {query.sku}"
    request = query.request_page(question, selection.types)
    request.find_place()
    with store.open(SOLD) as connection:
        page = request.select(connection.execute, selection)
        inputs = read_offsets(connection, PRODUCTS.name)
    with store.open(PRICES) as connection:
        items = [_price(connection, _render(SOLD, row), now_ms) for row in page.items]
        priced = read_offsets(connection, PRICE_CHANGES.name)
    as_of = date_by_offsets({**inputs, **priced})
    return JSONResponse({"items": items, "next": page.next, **as_of})


@router.get("/v1/stores", summary="The stores, in pages", response_model=StorePage)
def list_stores(store: FromStore, query: PageParameters) -> JSONResponse:
    conditions = (_hold(OPENED, store.get_world_ms()),)
    selection = Selection(OPENED.table, conditions, OPENED.table.contract.key, descending=False)
    request = query.request_page("stores", selection.types)
    request.find_place()
    with store.open(OPENED) as connection:
        page = request.select(connection.execute, selection)
        inputs = read_offsets(connection, STORES.name)
    items = [_render(OPENED, row) for row in page.items]
    return JSONResponse({"items": items, "next": page.next, **date_by_offsets(inputs)})


@router.get(
    "/v1/suppliers",
    summary="Who delivers, how much and how fast, in pages",
    response_model=SupplierPage,
)
def list_suppliers(store: FromStore, query: PageParameters) -> JSONResponse:
    holds = _hold(SOLD, store.get_world_ms())
    request = query.request_page("suppliers", (str,))
    [after] = request.find_place() or ("",)  # no id is empty
    hours = "24 * lead_time_days + coalesce(lead_time_hours, 0)"
    sql = (
        f"select supplier_id, count(*), min({hours}), max({hours}) from {SOLD.table.name} "
        f"where {holds.sql} and supplier_id > ? group by supplier_id order by supplier_id limit ?"
    )
    with store.open(SOLD) as connection:
        rows = connection.execute(sql, (*holds.values, after, request.rows_max)).fetchall()
        inputs = read_offsets(connection, PRODUCTS.name)
    page = request.build(rows, lambda row: row[:1])
    items = [dict(zip(Supplier.model_fields, row, strict=True)) for row in page.items]
    return JSONResponse({"items": items, "next": page.next, **date_by_offsets(inputs)})


def find_skus(store: Store, text: str) -> list[str]:
    """The products that have had this text in a name, the sku or a category. Raises Unavailable."""
    with store.open(SOLD) as connection:
        sql = f"select distinct sku from {SOLD.table.name} where {CONTAINS}"
        return [sku for (sku,) in connection.execute(sql, (text,))]


def _hold(layout: Layout, now_ms: int) -> Condition:
    """Of the changes of each product or store, the one that holds now."""
    name, [subject] = layout.table.name, layout.table.contract.key
    sql = (
        f"holds_from <= ? and not exists (select 1 from {name} later "
        f"where later.{subject} = {name}.{subject} and later.holds_from <= ? "
        f"and (later.holds_from, later.offset) > ({name}.holds_from, {name}.offset))"
    )
    return Condition(sql, (now_ms, now_ms))


def _render(layout: Layout, row: Stored) -> Document:
    document = layout.table.to_json(row)
    return {name: value for name, value in document.items() if name not in CHANGE}


def _price(connection: sqlite3.Connection, product: Document, now_ms: int) -> Document:
    """The product with what it costs now."""
    row = connection.execute(HOLDING, (product["sku"], now_ms)).fetchone()
    cents = None if row is None else PRICES.table.to_json(row)["price_cents"]
    return {**product, "price_cents": cents}
