-- A card has two sales in stores too far apart for the time between them. The later sale lies in the
-- interval.
with sale as (
    from signal where rule = 'impossible-travel'
),
pair as (
    select
        b.subject, b.interval_start,
        greatest(a.published, b.published) as decided_at,
        metres(a.latitude, a.longitude, b.latitude, b.longitude) as metres,
        greatest(b.event_time - a.event_time, getvariable('travel_gap_min')) as gap,
        [
            each_proof(a.event_time, a.event_id, a.topic, a.store_id),
            each_proof(b.event_time, b.event_id, b.topic, b.store_id)
        ] as proofs
    from sale as a
    join sale as b
        on a.subject = b.subject
        and a.interval_start = b.interval_start
        and (a.event_time, a.event_id) < (b.event_time, b.event_id)
        and a.store_id <> b.store_id
        and b.event_time - a.event_time <= getvariable('travel_gap_max')
    where b.kind = 'own'
),
trip as (
    select *, metres * 3600 // gap as speed_kmh
    from pair
    where metres >= getvariable('distance_km_min') * 1000
)
select
    subject,
    interval_start,
    max(speed_kmh)               as measured,
    getvariable('speed_kmh_max') as threshold,
    true                         as open,
    min(decided_at)              as decided_at,
    flatten(list(proofs))        as proofs
from trip
where speed_kmh > getvariable('speed_kmh_max')
group by all
