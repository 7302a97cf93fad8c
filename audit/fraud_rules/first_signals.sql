-- How much was contributed to each key, and the signals that count: the first of each by publication,
-- of a receipt more than of others.
-- The signal after those says when there were more. version: the events of all these, and every
-- further signal. beyond_at: when there were more; null where there were not. left_out: how many more.
create or replace table signal as
select
    *,
    row_number() over (
        partition by rule, subject, interval_start
        order by published, event_time, event_id, topic, line, kind
    ) as place,
    -- A generation from before there was a bound of receipts has one bound for all.
    if(
        rule = 'refund-without-receipt',
        coalesce(getvariable('receipt_signals_max'), getvariable('signals_max')),
        getvariable('signals_max')
    ) as most
from signal;

create or replace table counted as
select
    rule, subject, interval_start,
    count(distinct (topic, event_id)) filter (where place <= most + 1)
        + count(*) filter (where place > most + 1)          as version,
    min(published) filter (where place = most + 1)          as beyond_at,
    greatest(count(*) - any_value(most), 0)                 as left_out
from signal
group by all;

create or replace table signal as
select * exclude (place, most)
from signal
where place <= most
