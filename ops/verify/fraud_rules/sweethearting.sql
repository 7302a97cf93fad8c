-- A cashier gives too much away, on several receipts, in lines far below the list price.
with receipts as (
    select
        subject, interval_start, published, sum(amount)::bigint as cents,
        each_proof(event_time, event_id, topic, store_id) as proof
    from signal
    where rule = 'sweethearting'
    group by all
),
reading as (
    select
        *,
        sum(cents) over so_far as cents_so_far,
        count(*) over so_far as receipts_so_far
    from receipts
    window so_far as (partition by subject, interval_start order by published)
),
tripped as (
    select
        *,
        cents_so_far > getvariable('given_away_cents_max')
            and receipts_so_far >= getvariable('given_away_receipts_min') as trips
    from reading
)
select
    subject,
    interval_start,
    sum(cents)::bigint                     as measured,
    getvariable('given_away_cents_max')    as threshold,
    true                                   as open,
    min(published) filter (where trips)    as decided_at,
    list(proof)                            as proofs
from tripped
group by all
having bool_or(trips)
