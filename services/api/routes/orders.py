"""GET /v1/orders: the purchase orders of shelves, and the supplier's confirmations."""

import sqlite3
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, build_model
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.parameters import FromStore, IdFilter, PageQuery
from services.api.http.router import Router
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import CONFIRMED, ORDER_ID, ORDERS
from services.api.store.tables import Document, Stored

router = Router(tags=["orders"])


class OrdersQuery(PageQuery):
    store_id: IdFilter = Field(None, description="only those of this store")
    sku: IdFilter = Field(None, description="only those of this product")


class Order(build_model(PURCHASE_ORDERS)):  # type: ignore[misc]  # made at run time
    """What was ordered for a shelf, in answer to one minute."""

    confirmation: build_model(CONFIRMATIONS) | None = Field(  # type: ignore[valid-type]  # made at run time
        description="what the supplier answered; null: nothing yet"
    )


class OrderPage(TopicsPage):
    items: list[Order] = Field(description="the newest first")


@router.get(
    "/v1/orders",
    summary="Purchase orders with the supplier's answers, the newest first, in pages",
    description="Orders exist where they fill the shelves (`SIMULATOR_REFILL=orders`), "
    "whenever a position crosses its reorder point.",
    response_model=OrderPage,
)
def list_orders(store: FromStore, query: Annotated[OrdersQuery, Query()]) -> JSONResponse:
    # Read orders first, so that the answer has the order of every confirmation.
    page, ordered = query.read_newest(store, "orders", ORDERS)
    with store.open(CONFIRMED) as connection:
        items = _join_confirmations(connection, page.items)
        confirmed = read_offsets(connection, CONFIRMATIONS.name)
    as_of = date_by_offsets({**ordered, **confirmed})
    return JSONResponse({"items": items, "next": page.next, **as_of})


def _join_confirmations(connection: sqlite3.Connection, orders: Sequence[Stored]) -> list[Document]:
    """Each order with the supplier's confirmation; None before there is one."""
    id_index = ORDERS.table.columns.index(ORDER_ID)
    items: list[Document] = []
    for order in orders:
        row = connection.execute(CONFIRMED.table.select_one, (order[id_index],)).fetchone()
        confirmation = None if row is None else CONFIRMED.table.to_json(row)
        items.append({**ORDERS.table.to_json(order), "confirmation": confirmation})
    return items
