-- What every review proposes for a shelf, from the log alone. Times in milliseconds.
-- movement: a row per line, with what moved and the terms that held.
with
-- What a shelf was told of in three hours of one day.
told as (
    select
        store_id,
        sku,
        day,
        published % 86400000 // 10800000                            as part,
        sum(moved)::bigint                                          as moved,
        sum(sold)::bigint                                           as sold,
        sum(usual_milli)::bigint                                    as usual_milli,
        bool_or(opens)                                              as opens,
        count(distinct (topic, partition, event_id, event_time))               as events,
        max(event_time) filter (where pack_size_units is not null)  as known_at,
        arg_max(
            {
                cost: unit_cost_cents, pack: pack_size_units, lead: lead_time_days, hours: lead_time_hours,
                measure: measure
            },
            event_time
        ) filter (where pack_size_units is not null)                as terms,
        max(event_time) filter (where lift is not null)             as planned_at,
        arg_max({starts: starts_at, ends: ends_at, lift: lift}, event_time)
            filter (where lift is not null)                         as plan
    from movement
    group by all
),
-- A review looks at the seven days that end with it.
reviewed as (
    select
        day + 1 + ago                                               as review,
        store_id,
        sku,
        coalesce(sum(moved) filter (where ago = 0), 0)::bigint      as moved_units,
        sum(sold)::bigint                                           as sold_units,
        list({ago: ago, part: part, milli: usual_milli})            as sales,
        coalesce(max(ago) filter (where opens) + 1, 7)::bigint      as days,
        arg_max(terms, known_at) filter (where terms is not null)   as terms,
        arg_max(plan, planned_at) filter (where plan is not null)   as plan,
        sum(events)::bigint                                         as version
    from told
    cross join range(7) as back (ago)
    group by all
),
-- Demand in thousandths of what the cost is for, of a piece or a whole measure, by day and by part.
wanted as (
    select
        *,
        if(terms.measure is null, 1, 1000)                          as each,
        list_transform(range(7), lambda n: add_milli(list_filter(sales, lambda s: s.ago = n)) // each) as daily_milli,
        list_transform(range(8), lambda n: add_milli(list_filter(sales, lambda s: s.part = n)) // each) as parts_milli,
        list_transform(range(7), lambda n: least(greatest(days - n, 0), 1)) as counts,
        list_transform(range(7), lambda n: getvariable('weekdays')[(review + 3 + 6 - n) % 7 + 1]) as weights
    from reviewed
    where terms is not null
),
meant as (
    select
        *,
        list_sum(daily_milli)::double * list_sum(weights)::bigint
            / list_sum(list_transform(range(1, 8), lambda n: counts[n] * weights[n]))::bigint / 1000 / 7 as mean,
        list_sum(parts_milli)::double                               as parts_in_all,
        mean / (mean + getvariable('trust_units'))                  as trust
    from wanted
),
-- Of each coming day its units, and of each part its share.
forecast as (
    select
        *,
        list_transform(range(7, 0, -1), lambda n: mean * 7 * weights[n] / list_sum(weights)::bigint) as usual,
        list_transform(range(1, 8), lambda n:
            usual[n] + (daily_milli[8 - n] / 1000 - usual[n]) * (trust * counts[8 - n])) as daily,
        add_up(daily)                                               as starts,
        add_up(list_transform(parts_milli, lambda milli:
            (milli / 1000 + getvariable('trust_units') / 8)
            / (parts_in_all / 1000 + getvariable('trust_units'))))  as clock,
        terms.lead + coalesce(terms.hours, 0) / 24                  as lead_days,
        lead_days + (getvariable('review_days') + getvariable('late_hours') / 24) as exposed_days,
        coalesce(plan.lift, 1000) / 1000 - 1                        as raised,
        sold_until(coalesce((plan.starts - review * 86400000) / 86400000, 0), daily, starts, clock) as begins,
        sold_until(coalesce((plan.ends - review * 86400000) / 86400000, 0), daily, starts, clock) as ends,
        terms.cost * getvariable('holding_per_day')                 as holding_cents
    from meant
),
-- The point at the beginning of each part of the day, and at its end; at reviews only: at the first.
pointed as (
    select
        forecast.*,
        part,
        sold_before(part, daily, starts, clock)                     as start,
        sold_until(exposed_days + part / 8, daily, starts, clock)   as over,
        least(greatest(ends, start), over) - least(greatest(begins, start), over) as promoted,
        greatest(over - start + promoted * raised, 0)               as expected,
        expected / greatest(mean, 0.001::double)                    as worth_days,
        expected * getvariable('dispersion') * (1 + worth_days) as variance,
        ceil((expected + sqrt(variance) * getvariable('safety')) * each)::bigint as point
    from forecast
    cross join range(if(getvariable('review_days') = 0, 9, 1)::bigint) as parts (part)
),
levelled as (
    select
        * exclude (part, start, over, promoted, expected, worth_days, variance, point),
        max(point)                                                  as point,
        list({units: point} order by part)                          as points,
        ceil(
            sqrt(mean * (2 * getvariable('order_cents')) / greatest(holding_cents, 0.001::double))
            * each
        )::bigint                                                   as lot
    from pointed
    group by all
)
select
    review * 86400000               as review_at,
    store_id,
    sku,
    moved_units,
    sold_units,
    days,
    point                           as reorder_point_units,
    point + greatest(lot, terms.pack) as order_up_to_units,
    terms.pack                      as pack_size_units,
    terms.lead                      as lead_time_days,
    version,
    terms.measure                   as measure,
    terms.hours                     as lead_time_hours,
    getvariable('review_days')::int as review_days,
    if(getvariable('review_days') = 0, points, null) as reorder_points
from levelled
order by review, store_id, sku
