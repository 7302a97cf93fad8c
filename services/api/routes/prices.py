"""GET /v1/prices: the price of a product, now, at another time, and over time.

GET /v1/promotions: the promotion plans of a product.
"""

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import NOTICE, PRICE_CHANGES, PROMOTIONS, build_model
from contracts.times import render_span, to_epoch_ms
from services.api.http.answers import TopicsAsOf, TopicsPage, date_by_offsets
from services.api.http.parameters import Moment, PageParameters, Parameters, Sku
from services.api.http.problems import ITEM_PROBLEMS, LIST_PROBLEMS, NotFound, Problem
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import Plan, Prices, list_plans
from services.api.store.mirrored import PriceChange as StoredChange
from services.api.store.selection import WHOLE_MAX
from services.api.store.tables import Document
from services.times import render_instant, render_instant_or_none, render_instants

TIMES = ("event_time", "starts_at", "ends_at", "effective_at", "published_at", "holds_from")
"""The fields of changes and plans that are moments."""

router = Router(tags=["prices"])


class MomentQuery(Parameters):
    at: Moment | None = Field(
        None, description="the moment, as 2026-03-02T10:00:00Z; now, in world time, if left out"
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
    at: str = Field(description="the moment, in world time")
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
    at_ms = store.get_world_ms() if query.at is None else to_epoch_ms(query.at)
    with store.prices.open() as connection:
        price = Prices(connection).find(sku, at_ms)
        inputs = read_offsets(connection, PRICE_CHANGES.name)
    if price is None:
        raise _describe_unknown(sku, at_ms)
    change, until_ms = price
    times = {"until": render_instant_or_none(until_ms), "at": render_instant(at_ms)}
    return JSONResponse({**_render(change), **times, **date_by_offsets(inputs)})


@router.get(
    "/v1/prices/{sku}/history",
    summary="Every price of a product, announced ones too, the last first",
    response_model=PriceHistory,
    responses=ITEM_PROBLEMS,
)
def get_price_history(store: FromStore, sku: Sku, query: PageParameters) -> JSONResponse:
    request = query.request_page(f"history of {sku}", (int, int))
    holds_from, offset = request.find_place() or (WHOLE_MAX, WHOLE_MAX)
    with store.prices.open() as connection:
        before = (int(holds_from), int(offset))
        changes = Prices(connection).list_changes(sku, before, request.rows_max)
        inputs = read_offsets(connection, PRICE_CHANGES.name)
    if not changes and query.cursor is None:
        raise _describe_unknown(sku, None)
    page = request.build(changes, lambda change: (change.holds_from, change.offset))
    items = [_render(change) for change in page.items]
    return JSONResponse({"sku": sku, "items": items, "next": page.next, **date_by_offsets(inputs)})


@router.get(
    "/v1/promotions/{sku}",
    summary="Every promotion of a product, planned ones too, the last first",
    response_model=PromotionPage,
    responses=LIST_PROBLEMS,
)
def list_promotions(store: FromStore, sku: Sku, query: PageParameters) -> JSONResponse:
    request = query.request_page(f"promotions of {sku}", (int, int))
    starts_at, offset = request.find_place() or (WHOLE_MAX, WHOLE_MAX)
    with store.promotions.open() as connection:
        before = (int(starts_at), int(offset))
        plans = list_plans(connection, sku, before, request.rows_max)
        inputs = read_offsets(connection, PROMOTIONS.name)
    page = request.build(plans, lambda plan: (plan.starts_at, plan.offset))
    items = [_render(plan) for plan in page.items]
    return JSONResponse({"sku": sku, "items": items, "next": page.next, **date_by_offsets(inputs)})


def _render(announced: StoredChange | Plan) -> Document:
    values = announced._asdict()
    del values["offset"]
    return render_instants(values, TIMES)


def _describe_unknown(sku: str, at_ms: int | None) -> Problem:
    when = "" if at_ms is None else f" by {render_instant(at_ms)}"
    return NotFound(
        "No price",
        f"Expected a price of {sku}{when}, found none in {PRICE_CHANGES.name}. "
        "List the products that move with GET /v1/stock.",
    )
