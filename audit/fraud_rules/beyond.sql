-- Keys with more signals than count, of which those that count call for nothing: there is a row for
-- them all the same, since a reader may have seen others of their signals first, and a row stays.
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
