-- What every review proposes for a shelf, from the log alone. Times in milliseconds.
-- receipt, refund, shipment: a row per line; adjustment, product: a row per event.
with moved as (
    select topic, partition, event_id, event_time, published, store_id, sku,
           -units as moved, units as sold, false as opens
    from receipt
    union all
    select topic, partition, event_id, event_time, published, store_id, sku,
           units, 0, false
    from refund
    union all
    select topic, partition, event_id, event_time, published, store_id, sku,
           case
               when status = 'received' then received_units - dispatched_units
               when purchase_order_id is null then dispatched_units
               else 0
           end, 0, false
    from shipment
    union all
    select topic, partition, event_id, event_time, published, store_id, sku,
           units, 0, reason = 'opening'
    from adjustment
),
known as (
    select moved.*, moved.published // 86400000 as day, unit_cost_cents, pack_size_units, lead_time_days
    from moved
    asof left join product
        on moved.sku = product.sku and moved.event_time >= product.since
),
-- What a shelf was told of on one day.
daily as (
    select
        store_id,
        sku,
        day,
        sum(moved)::bigint                                          as moved,
        sum(sold)::bigint                                           as sold,
        bool_or(opens)                                              as opens,
        count(distinct (topic, partition, event_id))                as events,
        max(event_time) filter (where pack_size_units is not null)  as known_at,
        arg_max(
            {cost: unit_cost_cents, pack: pack_size_units, lead: lead_time_days}, event_time
        ) filter (where pack_size_units is not null)                as terms
    from known
    group by all
),
-- A review looks at the seven days that end with it.
reviewed as (
    select
        day + 1 + ago                                               as review,
        store_id,
        sku,
        coalesce(sum(moved) filter (where ago = 0), 0)::bigint      as moved_units,
        sum(sold)::bigint                                           as sold_units,
        sum(sold * sold)::bigint                                    as squares,
        coalesce(max(ago) filter (where opens) + 1, 7)::bigint      as days,
        arg_max(terms, known_at) filter (where terms is not null)   as terms,
        sum(events)::bigint                                         as version
    from daily
    cross join range(7) as back (ago)
    group by all
),
expected as (
    select
        *,
        sold_units / days                                           as mean,
        (squares - sold_units * mean) / greatest(days - 1, 1)       as spread,
        greatest(spread, mean * getvariable('dispersion_min'))      as variance,
        terms.lead + (getvariable('review_days') + getvariable('late_days')) as exposed_days,
        terms.cost * getvariable('holding_per_day')                 as holding_cents
    from reviewed
    where terms is not null
),
levelled as (
    select
        *,
        ceil(
            mean * (1 + getvariable('swing')) * exposed_days
            + sqrt(variance * exposed_days) * getvariable('safety')
        )::bigint                                                   as point,
        ceil(
            sqrt(mean * (2 * getvariable('order_cents')) / greatest(holding_cents, 0.001::double))
        )::bigint                                                   as lot
    from expected
)
select
    review * 86400000               as review_at,
    store_id,
    sku,
    moved_units,
    sold_units,
    days,
    point                           as reorder_point_units,
    point + greatest(lot, terms.pack) as order_up_to_units,
    terms.pack                      as pack_size_units,
    terms.lead                      as lead_time_days,
    version
from levelled
order by review, store_id, sku
