-- What every half-hour and every day says of a product in all stores, from the log alone.
-- receipt, refund, shipment: a row per line; adjustment, product, price: a row per event. Times in milliseconds.
with moved as (
    select topic, partition, event_id, event_time, published, sku, -units as moved, units as sold
    from receipt
    union all
    select topic, partition, event_id, event_time, published, sku, units, 0 from refund
    union all
    select topic, partition, event_id, event_time, published, sku,
           if(status = 'received', received_units, 0), 0
    from shipment
    union all
    select topic, partition, event_id, event_time, published, sku, units, 0 from adjustment
),
priced as (
    select moved.*, price_cents, unit_cost_cents, measure
    from moved
    asof left join price on moved.sku = price.sku and moved.event_time >= price.since
    asof left join product on moved.sku = product.sku and moved.event_time >= product.since
),
intervals as (
    select
        (published // length + 1) * length                        as ends_at,
        period,
        sku,
        sum(sold)::bigint                                         as units_sold,
        sum(moved)::bigint                                        as moved_units,
        count(distinct (topic, partition, event_id, event_time))  as version,
        arg_max(price_cents, event_time) filter (where price_cents is not null) as price_cents,
        arg_max({cost: unit_cost_cents, measure: measure}, event_time)
            filter (where unit_cost_cents is not null)            as terms
    from priced
    cross join (values ('half-hour', 1800000), ('day', 86400000)) as lengths (period, length)
    group by all
),
-- Demand in what the cost is for: in pieces, or in whole measures.
expected as (
    select
        *,
        if(terms.measure is null, 1, 1000)                        as each,
        units_sold::double / each                                 as sold,
        sqrt((sold + 1) * getvariable('dispersion')) * getvariable('deviations') as deviation,
        getvariable('shares_permille')[(ends_at - 1800000) // 3600000 % 24 + 1] as share,
        if(period = 'day', 1::double, 2000 / share)               as per_day,
        price_cents * (100 - getvariable('cut_percent')::bigint) // 100 as cut_cents,
        terms.cost - terms.cost * getvariable('loss_percent_max')::bigint // 100 as least_cents,
        greatest(cut_cents, least_cents)                          as lower_cents
    from intervals
)
select
    ends_at,
    period,
    sku,
    units_sold,
    moved_units,
    ceil((sold + deviation) * per_day * getvariable('cover_days') * each)::bigint as slow_above_units,
    floor(greatest(sold - deviation, 0) * per_day * getvariable('enough_days') * each)::bigint
                                                                  as enough_units,
    version,
    terms.measure                                                 as measure,
    price_cents,
    terms.cost                                                    as unit_cost_cents,
    if(terms is not null and lower_cents < price_cents, lower_cents, null) as markdown_price_cents
from expected
order by ends_at, period, sku
