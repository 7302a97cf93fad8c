-- A refund pays for goods that its receipt did not sell. The query compares refunded and sold amounts
-- by sku. A subject is a candidate once its refunds exceed the threshold. Its alert is withdrawn when
-- a receipt that covers them is published.
with line as (
    select
        *,
        if(kind = 'refunded', amount, 0) as refunded,
        if(kind = 'sold', amount, 0)     as sold
    from signal
    where rule = 'refund-without-receipt'
),
asked as (
    select
        subject, interval_start, sum(refunded) as cents,
        list(each_proof(event_time, event_id, topic, store_id)) filter (where kind = 'refunded')
            as proofs
    from line
    group by all
    having cents > getvariable('unbacked_cents_max')
),
moment as (
    select distinct subject, interval_start, published
    from line
    semi join asked using (subject, interval_start)
),
known as (
    select
        subject, interval_start, moment.published, about,
        sum(refunded)                        as refunded,
        greatest(sum(refunded) - sum(sold), 0) as beyond
    from moment
    join line using (subject, interval_start)
    where line.published <= moment.published
    group by all
),
read_so_far as (
    select
        subject, interval_start, published,
        sum(refunded)::bigint as refunded,
        sum(beyond)::bigint   as beyond
    from known
    group by all
)
select
    subject,
    interval_start,
    arg_max(beyond, published)        as measured,
    getvariable('unbacked_cents_max') as threshold,
    measured > threshold              as open,
    coalesce(
        min(published) filter (where beyond > getvariable('unbacked_cents_max')),
        min(published) filter (where refunded > getvariable('unbacked_cents_max'))
    )                                 as decided_at,
    any_value(proofs)                 as proofs
from read_so_far
join asked using (subject, interval_start)
group by all
