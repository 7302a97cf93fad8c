-- How many events were posted to each key, and the clues that count: the first of each.
create or replace table posted as
select rule, subject, interval_start, count(distinct (topic, event_id)) as version
from clue
group by all;

create or replace table clue as
select *
from clue
qualify row_number() over (
    partition by rule, subject, interval_start
    order by event_time, event_id, topic, line, kind
) <= getvariable('clues_max')
