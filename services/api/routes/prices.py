"""GET /v1/prices/{sku}: the price of a product, now, at another time, and over time.

GET /v1/promotions: the promotion plans of a product.
"""

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import NOTICE, PRICE_CHANGES, PROMOTIONS, build_model
from contracts.times import EPOCH, render_span
from services.api.http.answers import TopicsAsOf, TopicsPage, date_by_offsets
from services.api.http.parameters import (
    FromStore,
    Moment,
    PageParameters,
    PageQuery,
    Parameters,
    Sku,
)
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound, Problem
from services.api.store.mirror import Layout, read_offsets
from services.api.store.mirrored import PLACE, PLANNED, PRICES
from services.api.store.store import Store
from services.api.store.tables import Document, Stored
from services.times import render_instant, render_instant_or_none, to_ms

HOLDING = (
    f"{PRICES.table.select} where sku = ? and holds_from <= ? "
    "order by holds_from desc, offset desc limit 1"
)
"""Of changes that hold from the same moment, the last one counts."""
NEXT = f"select min(holds_from) from {PRICES.table.name} where sku = ? and holds_from > ?"

router = Router(tags=["prices"])


class MomentQuery(Parameters):
    moment: Moment | None = Field(
        None,
        alias="at",
        description="the moment, as 2026-03-02T10:00:00Z; now, in world time, if left out",
    )


class Announced(BaseModel):
    """What is published ahead of the time from which it holds."""

    published_at: str = Field(description="when it was announced: the record's timestamp")
    holds_from: str = Field(
        description="from when on it holds: effective_at, or "
        f"{render_span(NOTICE)} after published_at where that is later"
    )


class PriceChange(Announced, build_model(PRICE_CHANGES)):  # type: ignore[misc]  # made at run time
    """A price of a product, and from when on it holds."""


class Price(PriceChange):
    """What a product costs at a moment."""

    until: str | None = Field(
        description="when the next price announced takes over; null: none is announced"
    )
    moment: str = Field(alias="at", description="the moment, in world time")
    as_of: TopicsAsOf = Field(description="what has been read")


class PriceHistory(TopicsPage):
    sku: str
    items: list[PriceChange] = Field(description="the last to hold first")


class Promotion(Announced, build_model(PROMOTIONS)):  # type: ignore[misc]  # made at run time
    """A plan. Of two plans for the same days, the one that holds from later on counts."""


class PromotionPage(TopicsPage):
    sku: str
    items: list[Promotion] = Field(description="the last to start first; empty: none was planned")


@router.get(
    "/v1/prices/{sku}",
    summary="What a product costs at a moment",
    response_model=Price,
    responses=ITEM_PROBLEMS,
)
def get_price(store: FromStore, sku: Sku, query: Annotated[MomentQuery, Query()]) -> JSONResponse:
    at_ms = store.get_world_ms() if query.moment is None else to_ms(query.moment - EPOCH)
    with store.open(PRICES) as connection:
        change = connection.execute(HOLDING, (sku, at_ms)).fetchone()
        [until_ms] = connection.execute(NEXT, (sku, at_ms)).fetchone()
        inputs = read_offsets(connection, PRICE_CHANGES.name)
    if change is None:
        raise _describe_unknown(sku, f" by {render_instant(at_ms)}")
    return JSONResponse(
        {
            **_render(PRICES, change),
            "until": render_instant_or_none(until_ms),
            "at": render_instant(at_ms),
            **date_by_offsets(inputs),
        }
    )


@router.get(
    "/v1/prices/{sku}/history",
    summary="Every price of a product, announced ones too, the last first",
    response_model=PriceHistory,
    responses=ITEM_PROBLEMS,
)
def get_price_history(store: FromStore, sku: Sku, query: PageParameters) -> JSONResponse:
    page = _build_page(store, "history", PRICES, sku, query)
    if not page["items"] and query.cursor is None:
        raise _describe_unknown(sku)
    return JSONResponse(page)


@router.get(
    "/v1/promotions/{sku}",
    summary="Every promotion of a product, planned ones too, the last first",
    response_model=PromotionPage,
)
def list_promotions(store: FromStore, sku: Sku, query: PageParameters) -> JSONResponse:
    return JSONResponse(_build_page(store, "promotions", PLANNED, sku, query))


def _build_page(store: Store, what: str, layout: Layout, sku: str, query: PageQuery) -> Document:
    page, inputs = query.read_newest(store, what, layout, sku=sku)
    items = [_render(layout, row) for row in page.items]
    return {"sku": sku, "items": items, "next": page.next, **date_by_offsets(inputs)}


def _render(layout: Layout, row: Stored) -> Document:
    """The announcement without its place."""
    document = layout.table.to_json(row)
    return {name: value for name, value in document.items() if name not in PLACE}


def _describe_unknown(sku: str, when: str = "") -> Problem:
    return NotFound(
        "No price", f"Expected a price of {sku}{when}, found none in {PRICE_CHANGES.name}."
    )
