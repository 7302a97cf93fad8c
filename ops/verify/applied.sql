-- The lines of what is applied: of each event the first copy in its partition that came in time.
with first_copy as (
    select topic, partition, event_id, event_time, min("offset") as "offset"
    from extracted
    where on_time
    group by all
)
select extracted.*
from extracted
join first_copy using (topic, partition, event_id, event_time, "offset")
where sku is not null
