"""GET /v1/history/stock-outs: the times in which a shelf had nothing to sell."""

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from services.api.http.answers import LakeAsOf, NextCursor, date_by_offsets, respond
from services.api.http.parameters import Sku, StoreId
from services.api.http.problems import LIST_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import FromLake
from services.api.lake.movements import TOPICS
from services.api.lake.stock_outs import StockOutRow, find_stock_outs
from services.api.routes import examples
from services.api.routes.history import SpanParameters
from services.api.store.selection import WHOLE_MIN
from services.times import render_instant, render_instant_or_none

router = Router(tags=["history"])


class StockOut(BaseModel):
    """A time in which a shelf had nothing to sell."""

    started_at: str = Field(description="when the units on hand fell to zero or below")
    ended_at: str | None = Field(
        description="when they were above it again; null: that has not happened"
    )
    units_on_hand_min: int = Field(
        description="the fewest units on hand; negative: more was sold than the log accounts for",
        json_schema_extra={"unit": "units"},
    )
    known_at: str = Field(
        description="when the last of its movements was published; a time long after the stock-out "
        "means a correction"
    )
    lost_ms: int | None = Field(
        description="its length within the time asked for; null while it lasts and no `until` is "
        "given",
        json_schema_extra={"unit": "milliseconds"},
    )


class StockOutPage(BaseModel):
    """Some of the times in which a shelf had nothing to sell."""

    store_id: str
    sku: str
    items: list[StockOut] = Field(description="the first to begin first")
    lost_ms: int = Field(
        description="the sum over all pages; a stock-out that still lasts counts only with `until`",
        json_schema_extra={"unit": "milliseconds"},
    )
    next: NextCursor
    as_of: LakeAsOf = Field(description="what has been read")


@router.get(
    "/v1/history/stock-outs/{store_id}/{sku}",
    summary="When a shelf had nothing to sell, and for how long, in pages",
    description="From the lake. A shelf is out of stock from the moment when its units on hand "
    "fall to zero or below until they rise above zero. The answer lists the stock-outs that lasted "
    "after `since`, by the events until `until`. Lost time counts between the two.",
    **examples.answer(StockOutPage, examples.STOCK_OUT_PAGE, LIST_PROBLEMS),
)
def list_stock_outs(
    lake: FromLake, store_id: StoreId, sku: Sku, query: SpanParameters
) -> JSONResponse:
    span = query.build_span(store_id, sku)
    request = query.ask("stock-outs", span, (int,))
    [after_ms] = request.find_place() or (WHOLE_MIN,)
    with lake.open(*TOPICS) as snapshot:
        rows = find_stock_outs(snapshot, span, int(after_ms), request.rows_max)
        as_of = date_by_offsets(snapshot.list_ends())
    page = request.build(rows, lambda row: (row["started_at"],))
    return respond(
        StockOutPage(
            store_id=store_id,
            sku=sku,
            items=[_render(row) for row in page.items],
            lost_ms=rows[0]["lost_ms_in_all"] if rows else 0,
            next=page.next,
            as_of=LakeAsOf(**as_of["as_of"]),
        )
    )


def _render(row: StockOutRow) -> StockOut:
    return StockOut(
        started_at=render_instant(row["started_at"]),
        ended_at=render_instant_or_none(row["ended_at"]),
        known_at=render_instant(row["known_at"]),
        units_on_hand_min=row["units_on_hand_min"],
        lost_ms=row["lost_ms"],
    )
