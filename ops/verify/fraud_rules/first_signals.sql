-- Limits the signals of each key to the first ones by publication. A receipt has a higher limit than
-- other subjects.
-- version: the events of the signals up to the first one beyond the limit, plus the number of later
-- signals. beyond_at: the publication of the first signal beyond the limit; null if there is none.
-- left_out: the number of signals beyond the limit.
create or replace table signal as
select
    *,
    row_number() over (
        partition by rule, subject, interval_start
        order by published, event_time, event_id, topic, line, kind
    ) as place,
    -- A generation without `receipt_signals_max` has one limit for all subjects.
    if(
        rule = 'refund-without-receipt',
        coalesce(getvariable('receipt_signals_max'), getvariable('signals_max')),
        getvariable('signals_max')
    ) as most
from signal;

create or replace table counted as
select
    rule, subject, interval_start,
    count(distinct (topic, event_id, event_time)) filter (where place <= most + 1)
        + count(*) filter (where place > most + 1)          as version,
    min(published) filter (where place = most + 1)          as beyond_at,
    greatest(count(*) - any_value(most), 0)                 as left_out
from signal
group by all;

create or replace table signal as
select * exclude (place, most)
from signal
where place <= most
