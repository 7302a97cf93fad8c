-- Extracts the signals of every accepted event. A signal has a rule, a subject and an interval.
-- `receipt` and `refund` have one row per line of each applied event. `price`, `product` and `store`
-- hold dimension versions: the valid version is the last one whose `since` is not after the event.
-- Times are epoch milliseconds. `line` distinguishes the signals of one event.
create or replace table signal as
with sale as (
    select topic, event_id, event_time, published, store_id, cashier_id, card_token, customer_id
    from receipt
    where line = 0
),
money_back as (
    select
        topic, event_id, event_time, published, store_id, cashier_id, card_token,
        receipt_event_id, receipt_event_time,
        coalesce(
            receipt_event_id is not null
            and receipt_event_time >= event_time - getvariable('return_period')
            and receipt_event_time <= event_time + getvariable('receipt_ahead_max'),
            false
        ) as names_receipt,
        sum(amount(units, unit_price_cents, measure))::bigint as cents
    from refund
    group by all
),
placed as (
    select
        sale.*,
        store.latitude_microdegrees as latitude,
        store.longitude_microdegrees as longitude
    from sale asof join store
        on sale.store_id = store.store_id and sale.event_time >= store.since
    where card_token is not null
),
priced as (
    select receipt.*, price.price_cents
    from receipt asof join price
        on receipt.sku = price.sku and receipt.event_time >= price.since
),
packed as (
    select receipt.*, units * 100 // pack_size_units as hundredths
    from receipt asof join product
        on receipt.sku = product.sku and receipt.event_time >= product.since
    where customer_id is null and receipt.measure is not distinct from product.measure
),
contribution as (
    select
        'card-velocity' as rule, card_token as subject,
        starts(event_time, getvariable('card_sales_interval')) as interval_start,
        topic, event_id, event_time, published, store_id, 0 as line, 'own' as kind,
        null::varchar as about, null::bigint as amount,
        null::bigint as latitude, null::bigint as longitude
    from sale
    where card_token is not null
    union all
    select
        'card-velocity', card_token,
        starts(event_time, getvariable('card_sales_interval')) + getvariable('card_sales_interval'),
        topic, event_id, event_time, published, store_id, 0, 'context', null, null, null, null
    from sale
    where card_token is not null
        and event_time + getvariable('card_sales_window')
            > starts(event_time, getvariable('card_sales_interval'))
                + getvariable('card_sales_interval')
    union all
    select
        'impossible-travel', card_token,
        starts(event_time, getvariable('travel_interval')),
        topic, event_id, event_time, published, store_id, 0, 'own', null, null, latitude, longitude
    from placed
    union all
    select
        'impossible-travel', card_token,
        starts(event_time, getvariable('travel_interval')) + getvariable('travel_interval'),
        topic, event_id, event_time, published, store_id, 0, 'context', null, null,
        latitude, longitude
    from placed
    where event_time + getvariable('travel_gap_max')
        >= starts(event_time, getvariable('travel_interval')) + getvariable('travel_interval')
    union all
    select
        'sweethearting', cashier_id,
        starts(event_time, getvariable('sweethearting_interval')),
        topic, event_id, event_time, published, store_id, line, 'own', null,
        amount(units, price_cents, measure) - amount(units, unit_price_cents, measure), null, null
    from priced
    where unit_price_cents < price_cents::bigint * getvariable('line_percent_max') // 100
    union all
    select
        'refund-without-receipt', event_id,
        starts(event_time, getvariable('refund_interval')),
        topic, event_id, event_time, published, store_id, line, 'sold', sku,
        amount(units, unit_price_cents, measure), null, null
    from receipt
    union all
    select
        'refund-without-receipt', receipt_event_id,
        starts(receipt_event_time, getvariable('refund_interval')),
        topic, event_id, event_time, published, store_id, line, 'refunded', sku,
        amount(units, unit_price_cents, measure), null, null
    from refund semi join (from money_back where names_receipt)
        using (topic, event_id, event_time)
    union all
    select
        'refund-rate', cashier_id,
        starts(event_time, getvariable('refund_rate_interval')),
        topic, event_id, event_time, published, store_id, 0,
        if(not names_receipt and cents >= getvariable('blind_refund_cents_min'), 'blind', 'other'),
        card_token, null, null, null
    from money_back
    union all
    select
        'bulk-purchase', coalesce(card_token, event_id),
        starts(event_time, getvariable('bulk_interval')),
        topic, event_id, event_time, published, store_id, line, 'own', sku, hundredths, null, null
    from packed
    where hundredths >= getvariable('packs_line_hundredths_min')
)
select *
from contribution
