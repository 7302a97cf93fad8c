"""GET /v1/best-sellers: the products that sold most in one window, ranked here.

A row of the view tells of one product; which are the first follows from all of a window's rows, so
it is asked when it is read.
"""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, Field

from contracts import BEST_SELLERS
from services.api import examples, problems
from services.api.cursors import WHOLE_MAX
from services.api.finality import Finality
from services.api.marker import epoch_ms
from services.api.models import BestSellers
from services.api.problems import Problem
from services.api.reaching import ViewQuery, reached
from services.api.snapshots import Snapshot, Snapshots
from services.api.sources import Sources
from services.api.tables import instant
from services.api.times import clock_ms
from services.api.views import TABLES

TOP_DEFAULT = 10
TOP_MAX = 100

TABLE = TABLES[BEST_SELLERS.name]
MEASURES = ("units", "revenue_cents", "units_on_time", "revenue_cents_on_time")
WINDOWS = f"select window_start, window_end from {TABLE.name}"
WINDOW = f"{WINDOWS} where window_start = ? limit 1"
LAST = f"{WINDOWS} where window_start <= ? order by window_start desc limit 1"
SUMS = ", ".join(f"sum({name}) as {name}" for name in MEASURES)
RANKED = (
    f"select sku, {SUMS} from {TABLE.name} where window_start = ? and (? is null or store_id = ?) "
    "group by sku order by units desc, revenue_cents desc, sku limit ?"
)


class BestSellersQuery(ViewQuery):
    store: str | None = Field(None, max_length=64, description="this store; all, if left out")
    window: AwareDatetime | None = Field(
        None, description="when the hour begins; the last that is over in the world, if left out"
    )
    top: int = Field(TOP_DEFAULT, ge=1, le=TOP_MAX, description="how many products")


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["analytics"])

    @router.get(
        "/v1/best-sellers",
        operation_id="listBestSellers",
        summary="The products that sold most in one hour",
        description="By units, then revenue, then sku; the order of equals is always the same.",
        response_model=BestSellers,
        responses=examples.ok(examples.BEST_SELLERS)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def list_best_sellers(query: Annotated[BestSellersQuery, Query()]) -> JSONResponse:
        snapshots = await reached(sources, TABLE.view, query)
        return JSONResponse(await run_in_threadpool(_ranked, sources, snapshots, query))

    return router


def _ranked(sources: Sources, snapshots: Snapshots, query: BestSellersQuery) -> dict[str, Any]:
    with snapshots.reading() as snapshot:
        found = _window(sources, snapshot, query)
        if found is None:
            raise _no_window(snapshot, query)
        start_ms, end_ms = found
        asked = (start_ms, query.store, query.store, query.top)
        sold = snapshot.rows(RANKED, asked).fetchall()
    names = ("rank", "sku", *MEASURES)
    return {
        "store_id": query.store,
        "window_start": instant(start_ms),
        "window_end": instant(end_ms),
        "final": Finality(sources, TABLE, snapshot.marker).settled(end_ms),
        "items": [
            dict(zip(names, (rank, *row), strict=True)) for rank, row in enumerate(sold, start=1)
        ],
        **sources.dated(snapshot.marker),
    }


def _window(
    sources: Sources, snapshot: Snapshot, query: BestSellersQuery
) -> tuple[int, int] | None:
    """Begin and end, in epoch ms, of the window asked for, else of the last one that is over.

    Where none is over, or nobody knows what time it is, of the newest; None: there is none.
    """
    if query.window is not None:
        return _first(snapshot, WINDOW, epoch_ms(query.window))
    newest = _first(snapshot, LAST, WHOLE_MAX)
    now_ms = clock_ms(sources)
    if newest is None or now_ms is None:
        return newest
    length_ms = newest[1] - newest[0]
    return _first(snapshot, LAST, now_ms - length_ms) or newest


def _first(snapshot: Snapshot, sql: str, at_ms: int) -> tuple[int, int] | None:
    found: tuple[int, int] | None = snapshot.rows(sql, (at_ms,)).fetchone()
    return found


def _no_window(snapshot: Snapshot, query: BestSellersQuery) -> Problem:
    oldest_ms = snapshot.oldest_kept(TABLE)
    kept = "none yet" if oldest_ms is None else f"those from {instant(oldest_ms)} on"
    asked = "any" if query.window is None else instant(epoch_ms(query.window))
    return Problem(
        HTTPStatus.NOT_FOUND,
        "Unknown window",
        f"Expected a window in which something was sold, found none for {asked}; kept are {kept}. "
        f"List rows with GET /v1/views/{TABLE.view}/rows.",
    )
