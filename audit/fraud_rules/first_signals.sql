-- How much was contributed to each key, and the signals that count: the first of each by publication.
-- The signal after those says when there were more. version: the events of all these, and every
-- further signal. beyond_at: when there were more; null where there were not. left_out: how many more.
create or replace table signal as
select
    *,
    row_number() over (
        partition by rule, subject, interval_start
        order by published, event_time, event_id, topic, line, kind
    ) as place
from signal;

create or replace table counted as
select
    rule, subject, interval_start,
    count(distinct (topic, event_id)) filter (where place <= getvariable('signals_max') + 1)
        + count(*) filter (where place > getvariable('signals_max') + 1) as version,
    min(published) filter (where place = getvariable('signals_max') + 1) as beyond_at,
    greatest(count(*) - getvariable('signals_max'), 0)                    as left_out
from signal
group by all;

create or replace table signal as
select * exclude place
from signal
where place <= getvariable('signals_max')
