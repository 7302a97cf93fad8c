-- A row per line, with what it moved of a shelf's position, and the terms and the plan that held.
-- receipt, refund, shipment: a row per line; adjustment, product, plan: a row per event. Times in milliseconds.
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
               else coalesce(dispatched_units - ordered_units, 0)
           end, 0, false
    from shipment
    union all
    select topic, partition, event_id, event_time, published, store_id, sku,
           units, 0, reason = 'opening'
    from adjustment
),
-- What a plan promises: how much more is wanted, in thousandths of what usually is.
lifting as (
    select sku, since, starts_at, ends_at,
           1000 + getvariable('lift_per_cut')::bigint * 1000 * (usual_price_cents - price_cents)
                  // usual_price_cents as lift
    from plan
)
select
    moved.*,
    moved.published // 86400000 as day,
    unit_cost_cents,
    pack_size_units,
    lead_time_days,
    lead_time_hours,
    measure,
    starts_at,
    ends_at,
    lift,
    moved.sold * 1000000
        // if(moved.event_time >= starts_at and moved.event_time < ends_at, lift, 1000) as usual_milli
from moved
asof left join product
    on moved.sku = product.sku and moved.event_time >= product.since
asof left join lifting
    on moved.sku = lifting.sku and moved.event_time >= lifting.since
