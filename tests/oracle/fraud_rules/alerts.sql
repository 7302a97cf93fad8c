-- Rows of the view: `suspicion` holds what the rules found, with every event that they rest on.
with found as (
    select *, list_sort(list_distinct(proofs)) as resting_on
    from suspicion
)
select
    rule,
    replace(replace(subject, '%', '%25'), '/', '%2F') as subject,
    interval_start,
    interval_start + span                        as interval_end,
    if(open, 'open', 'withdrawn')                as status,
    resting_on[-1].store_id                      as store_id,
    measured,
    threshold,
    len(resting_on)                              as events,
    [
        {topic: each.topic, event_id: each.event_id, event_time: each.event_time}
        for each in resting_on[:getvariable('evidence_max')]
    ]                                            as evidence,
    decided_at,
    version
from found
join posted using (rule, subject, interval_start)
join span using (rule)
order by rule, subject, interval_start
