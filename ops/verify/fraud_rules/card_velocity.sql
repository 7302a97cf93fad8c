-- A card has too many sales within a window. The window ends with a sale of the interval.
-- The alert is decided once more sales of the window than the threshold are published, among them
-- its last one.
with sale as (
    from signal where rule = 'card-velocity'
),
seen as (
    select
        last.subject, last.interval_start, last.topic, last.event_id,
        last.published as last_published,
        count(*) as sales,
        list_sort(list(each.published))[getvariable('card_sales_per_window_max') + 1] as reached,
        list(each_proof(each.event_time, each.event_id, each.topic, each.store_id)) as proofs
    from sale as last
    join sale as each
        on each.subject = last.subject
        and each.interval_start = last.interval_start
        and each.event_time <= last.event_time
        and each.event_time > last.event_time - getvariable('card_sales_window')
    where last.kind = 'own'
    group by all
)
select
    subject,
    interval_start,
    max(sales)                              as measured,
    getvariable('card_sales_per_window_max') as threshold,
    true                                    as open,
    min(greatest(reached, last_published))  as decided_at,
    flatten(list(proofs))                   as proofs
from seen
where sales > getvariable('card_sales_per_window_max')
group by all
