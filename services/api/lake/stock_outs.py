"""The times in which a shelf had nothing to sell, from the movements of the shelf.

A late movement may begin or undo a stock-out, so each answer computes them anew.
"""

from services.api.lake.movements import MOVED, Span, register_events
from services.api.lake.tables import LakeSnapshot, Record
from services.api.store.selection import WHOLE_MIN

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
-- Consecutive levels with nothing to sell have the same number of stocked levels before them.
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
lasting as (
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
from (select *, coalesce(sum(lost_ms) over (), 0)::bigint as lost_ms_in_all from lasting)
where started_at > $after
order by started_at
limit $limit
"""


def find_stock_outs(
    snapshot: LakeSnapshot, span: Span, after_ms: int = WHOLE_MIN, limit: int | None = None
) -> list[Record]:
    """The stock-outs that lasted in the span and began after a moment, in order.

    Times are in milliseconds since 1970. `ended_at` and `lost_ms` are None while it lasts;
    `lost_ms_in_all` is the lost time of all stock-outs of the span.
    """
    since_ms = WHOLE_MIN if span.since_ms is None else span.since_ms
    # A level is the sum of all earlier movements: read all of them.
    register_events(snapshot, Span(span.store_id, span.sku, until_ms=span.until_ms))
    values = {
        "sku": span.sku,
        "since": since_ms,
        "until": span.until_ms,
        "after": after_ms,
        "limit": limit,
    }
    return snapshot.query(OUTS, values)
