-- Stock on every shelf, from the log alone: the same answer as the pipeline's, in another engine.
select
    store_id,
    sku,
    sum(received + adjusted + refunded - sold)::bigint as units_on_hand,
    sum(sold)::bigint                                  as units_sold,
    sum(refunded)::bigint                              as units_refunded,
    sum(received)::bigint                              as units_received,
    sum(adjusted)::bigint                              as units_adjusted,
    sum(dispatched - closed)::bigint                   as units_in_transit,
    min(event_time)                                    as first_event_time,
    max(event_time)                                    as last_event_time,
    count(distinct (topic, event_id, event_time))                  as version
from applied
group by store_id, sku
order by store_id, sku
