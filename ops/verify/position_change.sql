-- By how much the position of a shelf changed in a minute, and the levels with which it opened.
-- movement: a row per line. Times in milliseconds.
with changed as (
    select
        (published // 60000 + 1) * 60000                       as changed_at,
        store_id,
        sku,
        sum(moved)::bigint                                     as moved_units,
        count(distinct (topic, partition, event_id, event_time)) as version,
        coalesce(sum(moved) filter (where opens), 0)::bigint   as opened,
        arg_max(
            {
                pack: pack_size_units, lead: lead_time_days, hours: lead_time_hours, measure: measure
            },
            event_time
        ) filter (where pack_size_units is not null)           as terms,
        opened > 0 and getvariable('review_days') = 0          as first
    from movement
    group by all
),
led as (
    select *, terms.lead + coalesce(terms.hours, 0) / 24 as lead_days
    from changed
    where terms is not null
)
select
    changed_at,
    store_id,
    sku,
    moved_units,
    version,
    terms.pack                                                 as pack_size_units,
    terms.lead                                                 as lead_time_days,
    terms.hours                                                as lead_time_hours,
    terms.measure                                              as measure,
    if(first, floor(
        opened * (lead_days + getvariable('opening_spare_days')) / (lead_days + getvariable('opening_days'))
    )::bigint, null)                                           as reorder_point_units,
    if(first, opened, null)                                    as order_up_to_units
from led
order by changed_at, store_id, sku
