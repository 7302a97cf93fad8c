-- A card, or one receipt paid in cash, buys too many packs of one product. Receipts with a customer
-- id do not count.
with bought as (
    select
        *,
        sum(amount) over (
            partition by subject, interval_start, about order by published
        ) as so_far
    from signal
    where rule = 'bulk-purchase'
),
product_of as (
    select
        subject, interval_start, about, max(so_far)::bigint as hundredths,
        min(published) filter (where so_far > getvariable('packs_hundredths_max')) as decided_at,
        list(each_proof(event_time, event_id, topic, store_id)) as proofs
    from bought
    group by all
    having hundredths > getvariable('packs_hundredths_max')
)
select
    subject,
    interval_start,
    max(hundredths)                     as measured,
    getvariable('packs_hundredths_max') as threshold,
    true                                as open,
    min(decided_at)                     as decided_at,
    flatten(list(proofs))               as proofs
from product_of
group by all
