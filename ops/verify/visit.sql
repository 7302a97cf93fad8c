-- Visits of customers, from the log alone: a row for each slot in which one has a receipt. Slots are as long
-- as the pause, from midnight on. Visits are found receipt by receipt; slots only say which rows there are.
-- receipt: a row per line, times in milliseconds. Sums of cents are decimals: ops/verify/sums.py.
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
    select
        *,
        coalesce(issued - lag(issued) over day_of_customer >= getvariable('pause'), true) as begins,
        count(*) over (partition by customer_id, day)                             as events
    from event
    window day_of_customer as (partition by customer_id, day order by issued)
),
numbered as (
    select
        *,
        day * 86400000 + (issued % 86400000) // getvariable('pause') * getvariable('pause') as slot,
        count(*) filter (where begins)
            over (partition by customer_id, day order by issued) as visit
    from moment
),
slot as (
    select customer_id, day, visit, slot, min(issued) as first, bool_or(begins) as begins
    from numbered
    group by all
)
select
    slot.customer_id,
    slot.slot                                                       as slot_start,
    slot.first                                                      as visit_start,
    max(numbered.issued)                                            as visit_end,
    least(max(numbered.issued) + getvariable('pause'), (slot.day + 1) * 86400000) as window_end,
    if(slot.begins, 'counted', 'withdrawn')                         as status,
    count(*)                                                        as receipts,
    least(count(distinct numbered.store_id), getvariable('stores_max')) as stores,
    sum(numbered.units)::bigint                                     as units,
    sum(numbered.cents)::decimal(38)                                as spent_cents,
    max(numbered.events)::bigint                                     as version
from slot
join numbered
    on numbered.customer_id = slot.customer_id
    and numbered.day = slot.day
    and numbered.visit = slot.visit
    and numbered.slot >= slot.slot
group by slot.customer_id, slot.day, slot.slot, slot.first, slot.begins
order by slot.customer_id, slot.slot
