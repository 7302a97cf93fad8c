"""GET /v1/prices: what a product costs now, at any other moment, and what it ever cost."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import PRICE_CHANGES
from contracts.judging import EPOCH
from services.api import examples, problems
from services.api.cursors import (
    CHARACTERS_MAX,
    NO_GENERATION,
    WHOLE_MAX,
    Cursor,
    paged,
    resume,
)
from services.api.marker import by_topic
from services.api.models import Moment, Parameters, Price, PriceHistory, PricePage
from services.api.pricebook import Prices
from services.api.problems import Problem
from services.api.selecting import LIMIT_DEFAULT, LIMIT_MAX
from services.api.sources import Sources
from services.api.stock import Sku
from services.api.tables import in_ms, instant
from services.api.times import world_ms

TIMES = ("effective_at", "event_time", "published_at", "holds_from", "until")


class PageQuery(Parameters):
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="entries per page")
    cursor: str | None = Field(
        None, max_length=CHARACTERS_MAX, description="`next` of the page before"
    )


class MomentQuery(Parameters):
    at: Moment | None = Field(
        None, description="the moment, as 2026-03-02T10:00:00Z; now, in world time, if left out"
    )


class PricesQuery(MomentQuery, PageQuery):
    """A page goes on at the moment of the first one."""


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["prices"])
    unavailable = problems.responses(HTTPStatus.SERVICE_UNAVAILABLE)
    unknown = problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)

    @router.get(
        "/v1/prices/{sku}",
        operation_id="getPrice",
        summary="What a product costs at a moment",
        response_model=Price,
        responses=examples.ok(examples.PRICE | examples.PRICES_AS_OF) | unknown,
    )
    def get_price(sku: Sku, query: Annotated[MomentQuery, Query()]) -> JSONResponse:
        at_ms = _moment_ms(sources, query)
        with sources.prices.reading() as connection:
            prices = Prices(connection)
            found, as_of = prices.holding(sku, at_ms), _as_of(prices)
        if found is None:
            raise _no_price(sku, at_ms)
        return JSONResponse({**_shown(found), "at": instant(at_ms), **as_of})

    @router.get(
        "/v1/prices",
        operation_id="listPrices",
        summary="What every product costs at a moment, in pages",
        response_model=PricePage,
        responses=examples.ok(examples.PRICE_PAGE) | unavailable,
    )
    def list_prices(query: Annotated[PricesQuery, Query()]) -> JSONResponse:
        question = f"prices at={query.at.isoformat() if query.at else 'now'}"
        if query.cursor is None:
            at_ms, after = _moment_ms(sources, query), ""
        else:
            at_ms, after = resume(query.cursor, NO_GENERATION, question, (int, str))  # type: ignore[assignment]  # of those types
        with sources.prices.reading() as connection:
            prices = Prices(connection)
            skus = prices.skus(after, at_ms, query.limit + 1)
            held = [prices.holding(sku, at_ms) for sku in skus[: query.limit]]
            as_of = _as_of(prices)
        items = [_shown(one) for one in held if one is not None]
        place = (at_ms, skus[query.limit - 1]) if len(skus) > query.limit else None
        following = str(Cursor(NO_GENERATION, question, place)) if place else None
        return JSONResponse({"items": items, "next": following, "at": instant(at_ms), **as_of})

    @router.get(
        "/v1/prices/{sku}/history",
        operation_id="getPriceHistory",
        summary="Every price of a product, announced ones too, the last first",
        response_model=PriceHistory,
        responses=examples.ok(examples.PRICE_HISTORY) | unknown,
    )
    def get_price_history(sku: Sku, query: Annotated[PageQuery, Query()]) -> JSONResponse:
        question, before = f"history of {sku}", (WHOLE_MAX, WHOLE_MAX)
        if query.cursor is not None:
            before = resume(query.cursor, NO_GENERATION, question, (int, int))  # type: ignore[assignment]  # of those types
        with sources.prices.reading() as connection:
            prices = Prices(connection)
            changes, as_of = prices.history(sku, before, query.limit + 1), _as_of(prices)
        if not changes and query.cursor is None:
            raise _no_price(sku, None)
        shown, following = paged(changes, query.limit, question, ("holds_from", "offset"))
        return JSONResponse(
            {"sku": sku, "items": [_shown(one) for one in shown], "next": following, **as_of}
        )

    return router


def _moment_ms(sources: Sources, query: MomentQuery) -> int:
    if query.at is None:
        return world_ms(sources)
    return in_ms(query.at - EPOCH)


def _as_of(prices: Prices) -> dict[str, Any]:
    return {"as_of": {"inputs": by_topic(prices.reached())}}


def _shown(change: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in change.items() if name != "offset"}
    times = {name: instant(plain[name]) for name in TIMES if plain.get(name) is not None}
    return {**plain, **times}


def _no_price(sku: str, at_ms: int | None) -> Problem:
    when = "" if at_ms is None else f" by {instant(at_ms)}"
    return Problem(
        HTTPStatus.NOT_FOUND,
        "No price",
        f"Expected a price of {sku}{when}, found none in {PRICE_CHANGES.name}. "
        "List what has a price with GET /v1/prices.",
    )
