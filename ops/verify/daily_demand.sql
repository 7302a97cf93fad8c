-- Units sold and taken back of a shelf, by day.
with moved as (
    select
        applied.*,
        date_trunc('day', event_time)                 as day_start,
        day_start + interval 1 day                    as day_end,
        published > day_end + getvariable('grace')    as late
    from applied
    where topic in ('public.sales.receipt.v1', 'public.sales.refund.v1')
)
select
    day_start,
    store_id,
    sku,
    max(day_end)                                               as day_end,
    sum(sold)::bigint                                          as units_sold,
    coalesce(sum(sold) filter (where not late), 0)::bigint     as units_sold_on_time,
    sum(refunded)::bigint                                      as units_refunded,
    coalesce(sum(refunded) filter (where not late), 0)::bigint as units_refunded_on_time,
    count(distinct (topic, event_id, event_time)) filter (where late)      as late_events,
    max(event_time) filter (where late)                        as last_late_event_time,
    count(distinct (topic, event_id, event_time))                          as version
from moved
group by day_start, store_id, sku
order by day_start, store_id, sku
