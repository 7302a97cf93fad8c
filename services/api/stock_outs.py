"""GET /v1/history/stock-outs: from when until when a shelf had nothing to sell.

From the lake's tables, by the movements that make a shelf. One that comes late may begin a
stock-out or undo one, so that they are told when they are asked for, and kept nowhere.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from services.api import examples
from services.api.cursors import NO_GENERATION, WHOLE_MIN, Place, paged, resume
from services.api.history import UNAVAILABLE, SpanQuery, moment_ms
from services.api.lake import Reading
from services.api.models import StockOutPage
from services.api.movements import MOVED, TOPICS, Span, name_events
from services.api.sources import Sources
from services.api.stock import Sku, StoreId
from services.api.tables import instant, instant_or_none

OUTS = f"""{MOVED},
-- What happens at one moment is one step.
step as (
    select event_time, sum(units_on_hand_change) as change, max(published_at) as published_at
    from moved
    where movement <> 'dispatched'
    group by event_time
),
level as (
    select
        event_time,
        sum(change) over past        as units,
        max(published_at) over past  as known_at
    from step
    window past as (order by event_time)
),
-- Levels with nothing to sell that follow each other have as many before them that had something.
numbered as (
    select *, count(*) filter (where units > 0) over (order by event_time) as stocked
    from level
),
out as (
    select
        stocked,
        min(event_time) as started_at,
        min(units)      as units_on_hand_min,
        max(known_at)   as known_at
    from numbered
    where units <= 0
    group by stocked
),
told as (
    select
        out.started_at,
        refill.event_time                           as ended_at,
        out.units_on_hand_min::bigint               as units_on_hand_min,
        coalesce(refill.known_at, out.known_at)     as known_at,
        coalesce(refill.event_time, $until)         as lasted_until,
        lasted_until - greatest(out.started_at, $since) as lost_ms
    from out
    left join numbered as refill
        on refill.units > 0 and refill.stocked = out.stocked + 1
    where coalesce(lasted_until > $since, true)
)
select *
from (select *, coalesce(sum(lost_ms) over (), 0)::bigint as lost_ms_in_all from told)
where started_at > $after
order by started_at
limit $limit
"""

SHOWN = ("units_on_hand_min", "lost_ms")


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["history"])

    @router.get(
        "/v1/history/stock-outs/{store_id}/{sku}",
        operation_id="listStockOuts",
        summary="When a shelf had nothing to sell, and for how long, in pages",
        description="From the lake. A shelf is out of stock from the moment at which the units on "
        "hand fall to zero or below until they are above it. Told are the stock-outs that lasted "
        "after `since`, by what had happened until `until`; time counts between the two.",
        response_model=StockOutPage,
        responses=examples.ok(examples.STOCK_OUT_PAGE) | UNAVAILABLE,
    )
    def list_stock_outs(
        store_id: StoreId, sku: Sku, query: Annotated[SpanQuery, Query()]
    ) -> JSONResponse:
        question = query.question("stock-outs", store_id, sku)
        after: Place = (WHOLE_MIN,)
        if query.cursor is not None:
            after = resume(query.cursor, NO_GENERATION, question, (int,))
        span = Span(store_id, sku, moment_ms(query.since), moment_ms(query.until))
        with sources.lake.reading(*TOPICS) as reading:
            found = stock_outs(reading, span, int(after[0]), query.limit + 1)
            as_of = reading.as_of()
        shown, following = paged(found, query.limit, question, ("started_at",))
        return JSONResponse(
            {
                "store_id": store_id,
                "sku": sku,
                "items": [_shown(one) for one in shown],
                "lost_ms": found[0]["lost_ms_in_all"] if found else 0,
                "next": following,
                **as_of,
            }
        )

    return router


def stock_outs(
    reading: Reading, span: Span, after_ms: int = WHOLE_MIN, limit: int | None = None
) -> list[dict[str, Any]]:
    """Those that lasted in the span and began after a moment, times in milliseconds of 1970."""
    since_ms = WHOLE_MIN if span.since_ms is None else span.since_ms
    # A level is the sum of all that ever happened before: nothing is left out of what is read.
    name_events(reading, Span(span.store_id, span.sku, until_ms=span.until_ms))
    return reading.ask(
        OUTS,
        {
            "sku": span.sku,
            "since": since_ms,
            "until": span.until_ms,
            "after": after_ms,
            "limit": limit,
        },
    )


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "started_at": instant(row["started_at"]),
        "ended_at": instant_or_none(row["ended_at"]),
        "known_at": instant(row["known_at"]),
        **{name: row[name] for name in SHOWN},
    }
