-- What moved of a sku in a store on a day. A shipment that was only dispatched moved nothing.
-- Sums of cents are decimals: ops/verify/sums.py.
select
    date_trunc('day', event_time)::date                                      as day,
    store_id,
    sku,
    count(distinct (partition, event_id, event_time)) filter (where sold is not null)    as receipts,
    coalesce(sum(sold), 0)::bigint                                           as units_sold,
    coalesce(sum(amount(sold, unit_price_cents, measure)), 0)::decimal(38)   as sales_cents,
    coalesce(sum(refunded), 0)::bigint                                       as units_refunded,
    coalesce(sum(amount(refunded, unit_price_cents, measure)), 0)::decimal(38) as refunded_cents,
    coalesce(sum(received), 0)::bigint                                       as units_received,
    coalesce(sum(adjusted), 0)::bigint                                       as units_adjusted
from moves
where coalesce(sold, refunded, received, adjusted) is not null
group by all
