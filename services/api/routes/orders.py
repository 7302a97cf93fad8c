"""GET /v1/orders: the purchase orders of shelves, and the supplier's confirmations."""

import sqlite3
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, build_model
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.pages import request_newest, select_page
from services.api.http.parameters import IdFilter, PageQuery
from services.api.http.problems import LIST_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import (
    CONFIRMATIONS_TABLE,
    NEWEST_ORDERS_FIRST,
    ORDER_ID,
    ORDERS_TABLE,
)
from services.api.store.tables import Document, Stored

router = Router(tags=["orders"])


class OrdersQuery(PageQuery):
    store_id: IdFilter = Field(None, description="only those of this store")
    sku: IdFilter = Field(None, description="only those of this product")


class Order(build_model(PURCHASE_ORDERS)):  # type: ignore[misc]  # made at run time
    """What was ordered for a shelf, in answer to one review."""

    confirmation: build_model(CONFIRMATIONS) | None = Field(  # type: ignore[valid-type]  # made at run time
        description="what the supplier answered; null: nothing yet"
    )


class OrderPage(TopicsPage):
    items: list[Order] = Field(description="the newest review first")


@router.get(
    "/v1/orders",
    summary="Purchase orders with the supplier's answers, the newest first, in pages",
    description="Orders exist where they fill the shelves (`SIMULATOR_REFILL=orders`), "
    "from the world's first midnight on.",
    **examples.answer(OrderPage, examples.ORDER_PAGE, LIST_PROBLEMS),
)
def list_orders(store: FromStore, query: Annotated[OrdersQuery, Query()]) -> JSONResponse:
    selection, request = request_newest(query, "orders", ORDERS_TABLE, NEWEST_ORDERS_FIRST)
    # Read orders first, so that the answer has the order of every confirmation.
    with store.orders.open() as connection:
        page = select_page(connection.execute, selection, request)
        ordered = read_offsets(connection, PURCHASE_ORDERS.name)
    with store.confirmations.open() as connection:
        items = _join_confirmations(connection, page.items)
        confirmed = read_offsets(connection, CONFIRMATIONS.name)
    as_of = date_by_offsets({**ordered, **confirmed})
    return JSONResponse({"items": items, "next": page.next, **as_of})


def _join_confirmations(connection: sqlite3.Connection, orders: Sequence[Stored]) -> list[Document]:
    """Each order with the supplier's confirmation; None before there is one."""
    at = ORDERS_TABLE.columns.index(ORDER_ID)
    items: list[Document] = []
    for order in orders:
        row = connection.execute(CONFIRMATIONS_TABLE.select_one, (order[at],)).fetchone()
        confirmation = None if row is None else CONFIRMATIONS_TABLE.to_json(row)
        items.append({**ORDERS_TABLE.to_json(order), "confirmation": confirmation})
    return items
