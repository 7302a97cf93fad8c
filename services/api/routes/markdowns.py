"""GET /v1/markdowns: the products whose price the gate of markdowns has lowered."""

import sqlite3
from enum import StrEnum
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import PRICE_CHANGES
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.paging import Page, PageRequest
from services.api.http.parameters import FromStore, IdFilter, PageQuery
from services.api.http.router import Router
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import PRICES
from services.api.store.tables import AnyJson, Document, Stored
from services.markdowns.prices import BEGINS, ENDS
from services.times import render_instant, render_instant_or_none

CENTS: AnyJson = {"unit": "cents"}
PLACE = ("is_open", "holds_from", "offset", "partition")
TYPES = (int,) * len(PLACE)
SHOWN = ("sku", "usual_price_cents", "price_cents", "decided_at", "until")

# A year has some 30,000 markdowns at most: 80 products have one at a time, of a day or longer.
MARKDOWNS = f"""
with begun as materialized (
    select *, event_time as decided_at,
        (select price_cents from {PRICES.table.name} usual
            where sku = change.sku
            and (holds_from, offset) < (change.holds_from, change.offset)
            and not (event_id glob '{BEGINS}*' or event_id glob '{ENDS}*')
            order by holds_from desc, offset desc limit 1) as usual_price_cents,
        (select min(holds_from) from {PRICES.table.name} following
            where sku = change.sku
            and (holds_from, offset) > (change.holds_from, change.offset)) as until
    from {PRICES.table.name} change
    where event_id glob '{BEGINS}*' and (:sku is null or sku = :sku)
), markdowns as (
    select *, until is null or until > :now as is_open from begun
    where usual_price_cents is not null
)
select {", ".join((*PLACE, *SHOWN))} from markdowns
where (:wants_open is null or is_open = :wants_open)
"""
AFTER = f"and ({', '.join(PLACE)}) < (:{', :'.join(PLACE)})"
ORDER = f"order by {', '.join(f'{name} desc' for name in PLACE)} limit :rows_max"

router = Router(tags=["prices"])


class State(StrEnum):
    OPEN = "open"
    ENDED = "ended"


class MarkdownsQuery(PageQuery):
    state: State | None = Field(
        None, description="open: those that hold now in world time, or are announced; ended: others"
    )
    sku: IdFilter = Field(None, description="only those of this product")


class Markdown(BaseModel):
    """A price that the gate has lowered."""

    sku: str
    usual_price_cents: int = Field(
        description="what others have set for that time", json_schema_extra=CENTS
    )
    price_cents: int = Field(description="what it costs instead", json_schema_extra=CENTS)
    decided_at: str = Field(description="the end of the half-hour that called for it")
    holds_from: str = Field(description="from when on it holds, in world time")
    until: str | None = Field(
        description="when the next price announced takes over; null: none is announced"
    )
    state: State


class MarkdownPage(TopicsPage):
    items: list[Markdown] = Field(description="the open ones first, of each the last to hold first")


@router.get(
    "/v1/markdowns",
    summary="What is and was marked down, in pages",
    description="Price changes of the gate of markdowns, which exist where pricing runs. A next "
    "price, the gate's or another's, ends a markdown.",
    response_model=MarkdownPage,
)
def list_markdowns(store: FromStore, query: Annotated[MarkdownsQuery, Query()]) -> JSONResponse:
    request = query.request_page(f"markdowns of {query.state} {query.sku}", TYPES)
    request.find_place()  # an invalid cursor is refused even while the topic is loading
    now_ms = store.get_world_ms()
    with store.open(PRICES) as connection:
        page = _select(connection, request, query, now_ms)
        inputs = read_offsets(connection, PRICE_CHANGES.name)
    items = [_render(row) for row in page.items]
    return JSONResponse({"items": items, "next": page.next, **date_by_offsets(inputs)})


def _select(
    connection: sqlite3.Connection, request: PageRequest, query: MarkdownsQuery, now_ms: int
) -> Page[Stored]:
    """The page of rows of PLACE and SHOWN, as of a moment of the world."""
    after = request.find_place()
    values = {
        "sku": query.sku,
        "now": now_ms,
        "wants_open": None if query.state is None else query.state is State.OPEN,
        "rows_max": request.rows_max,
        **dict(zip(PLACE, after or (), strict=False)),
    }
    sql = f"{MARKDOWNS} {AFTER if after else ''} {ORDER}"
    return request.build(connection.execute(sql, values).fetchall(), lambda row: row[: len(PLACE)])


def _render(row: Stored) -> Document:
    is_open, holds_from_ms, _, _, sku, usual_cents, cents, decided_ms, until_ms = row
    return {
        "sku": sku,
        "usual_price_cents": usual_cents,
        "price_cents": cents,
        "decided_at": render_instant(decided_ms),
        "holds_from": render_instant(holds_from_ms),
        "until": render_instant_or_none(until_ms),
        "state": State.OPEN if is_open else State.ENDED,
    }
