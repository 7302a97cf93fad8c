-- What is wrong with the simulator's records up to its pages, as far as the log shows it.
-- extracted, page: as for book_stock. unreadable: store_id (the key), topic, sequence of each record.
with record as (
    select distinct store_id, topic, partition, "offset", sequence, event_id, event_time, on_time
    from extracted
),
first_copy as (
    select topic, partition, event_id, event_time, min("offset") as "offset"
    from record
    group by all
),
counted as (
    select
        count(*) filter (where not record.on_time)                                  as untimely,
        count(*) filter (where record.on_time and record."offset" > first_copy."offset") as repeated
    from record
    join first_copy using (topic, partition, event_id, event_time)
    join page using (store_id, topic)
    where sequence < records
),
lost as (
    select count(*) as unreadable
    from unreadable
    join page using (store_id, topic)
    where sequence < records
)
select repeated, untimely, unreadable
from counted, lost
