-- What each shelf held at the end of each UTC day, from its first movement on; of the last day, so
-- far. A late event changes its day and all that follow. Events that were released are in no day.
with day as (
    select unnest(generate_series(min(day), max(day), interval 1 day))::date as day
    from gold.daily_facts
),
fact as (
    select
        day,
        store_id,
        sku,
        units_received + units_adjusted + units_refunded - units_sold as change
    from gold.daily_facts
),
shelf as (select store_id, sku, min(day) as opened from fact group by all)
select
    day.day,
    shelf.store_id,
    shelf.sku,
    (sum(coalesce(fact.change, 0)) over shelf_so_far)::bigint as units_on_hand
from shelf
join day on day.day >= shelf.opened
left join fact on (fact.day, fact.store_id, fact.sku) = (day.day, shelf.store_id, shelf.sku)
window shelf_so_far as (partition by shelf.store_id, shelf.sku order by day.day)
