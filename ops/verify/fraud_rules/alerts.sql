-- Returns the rows of the view: one alert per row of `candidate`, with its evidence.
with found as (
    select *, list_sort(list_distinct(proofs)) as resting_on
    from candidate
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
    greatest(len(resting_on) - getvariable('evidence_max'), 0) as evidence_left_out,
    left_out                                     as signals_left_out,
    decided_at,
    version
from found
join counted using (rule, subject, interval_start)
join each_rule using (rule)
order by rule, subject, interval_start
