-- What the simulator's records up to its pages say of every shelf, and what of it is quarantined.
-- extracted: one row per line of every readable record, copies and late ones included.
-- page: store_id, topic, records (how many of the simulator's records lie before the page).
with released as (
    select distinct event_id as original, event_time as happened
    from extracted
    where is_release(topic) and on_time
),
first_copy as (
    select
        topic,
        partition,
        event_id,
        event_time,
        min("offset") as "offset",
        bool_or(on_time or (topic || '/' || event_id, event_time) in (from released)) as applied
    from extracted
    group by all
)
select
    store_id,
    sku,
    sum(received + adjusted + refunded - sold)::bigint as units_on_hand,
    sum(dispatched - closed)::bigint                   as units_in_transit,
    count(*) filter (where not applied)                as movements_quarantined
from extracted
join first_copy using (topic, partition, event_id, event_time, "offset")
join page using (store_id, topic)
where sequence < records
group by store_id, sku
order by store_id, sku
