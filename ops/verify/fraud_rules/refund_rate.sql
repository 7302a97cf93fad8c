-- A cashier makes too many blind refunds: refunds without a receipt, in cash or to a card that has
-- had one before. The threshold grows with the number of all refunds of the cashier, so an alert may
-- be withdrawn.
with refund_of as (
    select *, kind = 'blind' as is_blind
    from signal
    where rule = 'refund-rate'
),
moment as (
    select distinct subject, interval_start, published
    from refund_of
),
read_so_far as (
    select
        subject, interval_start, moment.published,
        count(*) filter (where is_blind)
            - count(distinct about) filter (where is_blind)      as measured,
        getvariable('blind_refunds_max')
            + count(*) * getvariable('blind_refunds_percent') // 100 as threshold,
        list(each_proof(event_time, event_id, topic, store_id)) filter (where is_blind) as proofs
    from moment
    join refund_of using (subject, interval_start)
    where refund_of.published <= moment.published
    group by all
)
select
    subject,
    interval_start,
    arg_max(measured, published)    as measured,
    arg_max(threshold, published)   as threshold,
    arg_max(measured > threshold, published) as open,
    coalesce(
        min(published) filter (where measured > threshold),
        min(published) filter (where measured > getvariable('blind_refunds_max'))
    )                               as decided_at,
    arg_max(proofs, published)      as proofs
from read_so_far
group by all
having max(measured) > getvariable('blind_refunds_max')
