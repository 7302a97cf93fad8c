"""GET /v1/orders: what was ordered for which shelf, and what the supplier answered."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from services.api import examples, problems
from services.api.copying import reached
from services.api.cursors import NO_GENERATION, WHOLE_MAX, paged, resume
from services.api.marker import by_topic
from services.api.models import OrderPage
from services.api.orderbook import ID, NEWEST_FIRST, ORDERED, TOPICS, answer, orders
from services.api.prices import PageQuery
from services.api.sources import Sources
from services.api.stock import ID_CHARACTERS_MAX

SHELF = ("store_id", "sku")


class OrdersQuery(PageQuery):
    store_id: str | None = Field(
        None, max_length=ID_CHARACTERS_MAX, description="only those of this store"
    )
    sku: str | None = Field(
        None, max_length=ID_CHARACTERS_MAX, description="only those of this product"
    )


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["orders"])

    @router.get(
        "/v1/orders",
        operation_id="listOrders",
        summary="Purchase orders with the supplier's answers, the newest first, in pages",
        description="There are some where orders fill the shelves (`SIMULATOR_REFILL=orders`), "
        "from the world's first midnight on.",
        response_model=OrderPage,
        responses=examples.ok(examples.ORDER_PAGE)
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def list_orders(query: Annotated[OrdersQuery, Query()]) -> JSONResponse:
        of = {name: value for name in SHELF if (value := getattr(query, name)) is not None}
        question, before = f"orders of {of}", (WHOLE_MAX, "")
        if query.cursor is not None:
            before = resume(query.cursor, NO_GENERATION, question, (int, str))  # type: ignore[assignment]  # of those types
        ordered, confirmed = (topic.name for topic in TOPICS)
        # Orders first: nothing is then answered that is not known to be ordered.
        with sources.orders.reading() as connection:
            found = orders(connection, of, before, query.limit + 1)
            inputs = reached(connection, ordered)
        named = [dict(zip(ORDERED.columns, row, strict=True)) for row in found]
        shown, following = paged(named, query.limit, question, NEWEST_FIRST)
        with sources.answers.reading() as connection:
            items = [
                {**ORDERED.shown(tuple(one.values())), "confirmation": answer(connection, one[ID])}
                for one in shown
            ]
            inputs = {**inputs, **reached(connection, confirmed)}
        return JSONResponse(
            {"items": items, "next": following, "as_of": {"inputs": by_topic(inputs)}}
        )

    return router
