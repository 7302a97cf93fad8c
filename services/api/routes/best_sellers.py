"""GET /v1/best-sellers: the products that sold most in one window.

A row of the view is about one product. The ranking depends on all rows of a window, so each answer
computes it; in Python, because SQLite's 64 bits may be too small for a sum.
"""

import json
from collections import defaultdict
from typing import Annotated, Any

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import BEST_SELLERS
from contracts.times import to_epoch_ms
from infra.clock import get_wall_ms
from services.api.http.answers import Dated, date
from services.api.http.parameters import FromStore, Moment
from services.api.http.read_your_writes import ViewQuery, await_snapshots
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound, Problem
from services.api.routes.views import TABLES
from services.api.store.finality import Finality
from services.api.store.snapshots import Snapshot, Snapshots
from services.api.store.store import Store
from services.api.store.tables import WHOLE_MAX, Document
from services.times import render_instant

TOP_DEFAULT = 10
TOP_MAX = 100

TABLE = TABLES[BEST_SELLERS.name]
MEASURES = ("units", "revenue_cents", "units_on_time", "revenue_cents_on_time")
WINDOWS = f"select window_start, window_end from {TABLE.name}"
WINDOW = f"{WINDOWS} where window_start = ? limit 1"
LAST = f"{WINDOWS} where window_start <= ? order by window_start desc limit 1"
ROWS = (
    f"select sku, {', '.join(MEASURES)}, sums_in_full from {TABLE.name} "
    "where window_start = ? and (? is null or store_id = ?)"
)

router = Router(tags=["analytics"])

Sold = tuple[Any, ...]
"""A sku and its MEASURES."""


class BestSellersQuery(ViewQuery):
    store: str | None = Field(None, max_length=64, description="this store; all, if left out")
    window: Moment | None = Field(
        None, description="when the hour begins; the last that is over in the world, if left out"
    )
    top: int = Field(TOP_DEFAULT, ge=1, le=TOP_MAX, description="how many products")


class BestSeller(BaseModel):
    rank: int = Field(description="1 for what sold most")
    sku: str
    units: int = Field(description="units sold in the window")
    revenue_cents: int = Field(description="what they came to, as charged")
    units_on_time: int = Field(description="the same over what was published on time")
    revenue_cents_on_time: int = Field(description="likewise")


class BestSellers(Dated):
    """The products that sold most in one window."""

    store_id: str | None = Field(description="the store; null: all of them")
    window_start: str
    window_end: str = Field(description="the first moment that is not in it")
    final: bool = Field(description="whether nothing can change it any more")
    items: list[BestSeller] = Field(description="by units, then revenue, then sku")


@router.get(
    "/v1/best-sellers",
    summary="The products that sold most in one hour",
    description="By units, then revenue, then sku.",
    response_model=BestSellers,
    responses=ITEM_PROBLEMS,
)
async def list_best_sellers(
    store: FromStore, query: Annotated[BestSellersQuery, Query()]
) -> JSONResponse:
    snapshots = await await_snapshots(store, TABLE.view, query)
    return JSONResponse(await run_in_threadpool(_rank, store, snapshots, query))


def _rank(store: Store, snapshots: Snapshots, query: BestSellersQuery) -> Document:
    with snapshots.open() as snapshot:
        found = _find_window(store, snapshot, query)
        if found is None:
            raise _describe_unknown(snapshot, query)
        start_ms, end_ms = found
        sold = _select_top(snapshot, start_ms, query)
    names = ("rank", "sku", *MEASURES)
    return {
        "store_id": query.store,
        "window_start": render_instant(start_ms),
        "window_end": render_instant(end_ms),
        "final": Finality(store, TABLE, snapshot.marker).is_settled(end_ms),
        "items": [
            dict(zip(names, (rank, *row), strict=True)) for rank, row in enumerate(sold, start=1)
        ],
        **date(store, snapshot.marker),
    }


def _select_top(snapshot: Snapshot, start_ms: int, query: BestSellersQuery) -> list[Sold]:
    """The products that sold most, the best seller first."""
    chosen = (start_ms, query.store, query.store)
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(MEASURES))
    for sku, *values, in_full in snapshot.select(ROWS, chosen):
        full = {each["name"]: int(each["digits"]) for each in json.loads(in_full or "[]")}
        for index, (name, value) in enumerate(zip(MEASURES, values, strict=True)):
            sums[sku][index] += full.get(name, value)
    ranked: list[Sold] = [(sku, *measured) for sku, measured in sums.items()]
    ranked.sort(key=lambda sold: (-sold[1], -sold[2], sold[0]))  # by units, then revenue, then sku
    return ranked[: query.top]


def _find_window(
    store: Store, snapshot: Snapshot, query: BestSellersQuery
) -> tuple[int, int] | None:
    """Begin and end, in epoch ms, of the requested window, else of the last one that is over.

    Without a finished window or a world time it is the newest window; None if there is none.
    """
    if query.window is not None:
        return _select_window(snapshot, WINDOW, to_epoch_ms(query.window))
    newest = _select_window(snapshot, LAST, WHOLE_MAX)
    world = store.control.world
    if newest is None or world is None:
        return newest
    length_ms = newest[1] - newest[0]
    return _select_window(snapshot, LAST, world.world_at(get_wall_ms()) - length_ms) or newest


def _select_window(snapshot: Snapshot, sql: str, at_ms: int) -> tuple[int, int] | None:
    found: tuple[int, int] | None = snapshot.select(sql, (at_ms,)).fetchone()
    return found


def _describe_unknown(snapshot: Snapshot, query: BestSellersQuery) -> Problem:
    oldest_ms = snapshot.find_oldest_ms(TABLE)
    kept = "none yet" if oldest_ms is None else f"those from {render_instant(oldest_ms)} on"
    asked = "any" if query.window is None else render_instant(to_epoch_ms(query.window))
    return NotFound(
        "Unknown window",
        f"Expected a window in which something was sold, found none for {asked}; kept are {kept}. "
        f"List rows with GET /v1/views/{TABLE.view}/rows.",
    )
