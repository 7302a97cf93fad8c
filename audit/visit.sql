-- Visits of customers, from the log alone: a row for each moment at which one has a receipt.
-- receipt: a row per line, times in milliseconds. Sums of cents are decimals: audit/full_sums.py.
with event as (
    select
        replace(replace(receipt.customer_id, '%', '%25'), '/', '%2F') as customer_id,
        event_time // 86400000                                as day,
        event_time                                            as issued,
        store_id,
        sum(units)                                            as units,
        sum(amount(units, unit_price_cents, measure))         as cents
    from receipt
    where customer_id is not null
    group by partition, event_id, receipt.customer_id, event_time, store_id
),
moment as (
    select customer_id, day, issued, count(*) as receipts
    from event
    group by all
),
begun as (
    select
        *,
        coalesce(issued - lag(issued) over day_of_customer >= getvariable('pause'), true) as begins,
        sum(receipts) over (partition by customer_id, day)                        as known
    from moment
    window day_of_customer as (partition by customer_id, day order by issued)
),
numbered as (
    select
        *,
        count(*) filter (where begins)
            over (partition by customer_id, day order by issued) as visit
    from begun
),
ended as (
    select *, max(issued) over (partition by customer_id, day, visit) as last
    from numbered
)
select
    ended.customer_id,
    ended.issued                                                        as visit_start,
    ended.last                                                      as visit_end,
    least(ended.last + getvariable('pause'), (ended.day + 1) * 86400000) as window_end,
    if(ended.begins, 'counted', 'withdrawn')                        as status,
    count(*)                                                        as receipts,
    count(distinct event.store_id)                                  as stores,
    sum(event.units)::bigint                                        as units,
    sum(event.cents)::decimal(38)                                   as spent_cents,
    max(ended.known)::bigint                                        as version
from ended
join event
    on event.customer_id = ended.customer_id
    and event.day = ended.day
    and event.issued between ended.issued and ended.last
group by ended.customer_id, ended.day, ended.issued, ended.last, ended.begins
order by ended.customer_id, ended.issued
