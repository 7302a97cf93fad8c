-- Units of a product in a store, by hours that begin every ten minutes.
-- Sums of cents are decimals: ops/verify/sums.py.
with sold as (
    select
        applied.*,
        time_bucket(interval 10 minutes, event_time) - step * interval 10 minutes as window_start,
        window_start + interval 1 hour                                            as window_end,
        published > window_end + getvariable('grace')                             as late,
        amount(sold, unit_price_cents, measure)                                   as revenue
    from applied, range(6) as steps(step)
    where topic = 'public.sales.receipt.v1'
)
select
    window_start,
    store_id,
    sku,
    max(window_end)                                           as window_end,
    sum(sold)::bigint                                         as units,
    coalesce(sum(sold) filter (where not late), 0)::bigint    as units_on_time,
    sum(revenue)::decimal(38)                                 as revenue_cents,
    coalesce(sum(revenue) filter (where not late), 0)::decimal(38) as revenue_cents_on_time,
    count(distinct (event_id, event_time)) filter (where late)              as late_events,
    max(event_time) filter (where late)                       as last_late_event_time,
    count(distinct (event_id, event_time))                                  as version
from sold
group by window_start, store_id, sku
order by window_start, store_id, sku
