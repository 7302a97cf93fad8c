-- Sales of a store by minute: the same answer as the pipeline's, in another engine.
-- Sums of cents are decimals: ops/verify/sums.py.
with sold as (
    select
        applied.*,
        date_trunc('minute', event_time)                       as window_start,
        window_start + interval 1 minute                       as window_end,
        published > window_end + getvariable('grace')          as late,
        amount(sold, unit_price_cents, applied.measure)        as revenue,
        amount(sold, unit_cost_cents, applied.measure)         as spent,
        coalesce(revenue - spent, 0)                           as margin,
        case when spent is null then sold else 0 end           as costless
    from applied
    left join cost
        on cost.sku = applied.sku and event_time >= since and event_time < before
        and cost.measure is not distinct from applied.measure
    where topic = 'public.sales.receipt.v1'
)
select
    store_id,
    window_start,
    max(window_end)                                              as window_end,
    count(distinct (event_id, event_time))                                     as receipts,
    count(distinct (event_id, event_time)) filter (where not late)             as receipts_on_time,
    sum(sold)::bigint                                            as units,
    coalesce(sum(sold) filter (where not late), 0)::bigint       as units_on_time,
    sum(revenue)::decimal(38)                                    as revenue_cents,
    coalesce(sum(revenue) filter (where not late), 0)::decimal(38) as revenue_cents_on_time,
    sum(margin)::decimal(38)                                     as margin_cents,
    coalesce(sum(margin) filter (where not late), 0)::decimal(38) as margin_cents_on_time,
    sum(costless)::bigint                                        as units_without_cost,
    coalesce(sum(costless) filter (where not late), 0)::bigint   as units_without_cost_on_time,
    count(distinct (event_id, event_time)) filter (where late)                 as late_events,
    max(event_time) filter (where late)                          as last_late_event_time,
    count(distinct (event_id, event_time))                                     as version
from sold
group by store_id, window_start
order by store_id, window_start
