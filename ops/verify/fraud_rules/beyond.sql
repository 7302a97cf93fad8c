-- Returns a withdrawn alert for each key that has more signals than the limit and no alert from the
-- first ones. The pipeline may have read other signals of the key first and published an alert, and
-- a published row is never removed.
select
    rule,
    subject,
    interval_start,
    0::bigint          as measured,
    fixed_threshold    as threshold,
    false              as open,
    min(beyond_at)     as decided_at,
    list(each_proof(event_time, event_id, topic, store_id)) as proofs
from signal
join counted using (rule, subject, interval_start)
join each_rule using (rule)
anti join candidate using (rule, subject, interval_start)
where beyond_at is not null
group by all
