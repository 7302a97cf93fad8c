-- What every review proposes for a shelf, from the log alone. Times in milliseconds.
-- movement: a row per line, with what moved and the terms that held.
with
-- What a shelf was told of on one day.
daily as (
    select
        store_id,
        sku,
        day,
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
        list(usual_milli)                                           as usual_milli,
        coalesce(max(ago) filter (where opens) + 1, 7)::bigint      as days,
        arg_max(terms, known_at) filter (where terms is not null)   as terms,
        arg_max(plan, planned_at) filter (where plan is not null)   as plan,
        sum(events)::bigint                                         as version
    from daily
    cross join range(7) as back (ago)
    group by all
),
-- Demand in thousandths of what the cost is for: of a piece, or of a whole measure.
wanted as (
    select
        *,
        if(terms.measure is null, 1, 1000)                          as each,
        list_transform(usual_milli, lambda milli: milli // each)    as milli,
        list_sum(milli)::bigint                                     as milli_in_all,
        list_sum(list_transform(milli, lambda one: one::hugeint * one)) as squares
    from reviewed
    where terms is not null
),
expected as (
    select
        *,
        milli_in_all / days                                         as mean_milli,
        mean_milli / 1000                                           as mean,
        (squares - milli_in_all * mean_milli) / greatest(days - 1, 1) / 1000000 as spread,
        greatest(spread, mean * getvariable('dispersion_min'))      as variance,
        terms.lead + coalesce(terms.hours, 0) / 24                  as lead_days,
        lead_days + (getvariable('review_days') + getvariable('late_days')) as exposed_days,
        lead_days + (1 + getvariable('late_days'))                  as seen_days,
        terms.cost * getvariable('holding_per_day')                 as holding_cents,
        (plan.starts - review * 86400000) / 86400000                as begins_days,
        (plan.ends - review * 86400000) / 86400000                  as ends_days,
        greatest(least(ends_days, seen_days) - greatest(begins_days, 0), 0) as promised_days,
        least(promised_days, exposed_days)                          as promoted_days,
        exposed_days + coalesce(promoted_days * (plan.lift / 1000 - 1), 0) as worth_days,
        worth_days + worth_days * worth_days / days                 as doubted_days
    from wanted
),
levelled as (
    select
        *,
        ceil((
            mean * (1 + getvariable('swing')) * worth_days
            + sqrt(variance * doubted_days) * getvariable('safety')
        ) * each)::bigint                                           as point,
        ceil(
            sqrt(mean * (2 * getvariable('order_cents')) / greatest(holding_cents, 0.001::double))
            * each
        )::bigint                                                   as lot
    from expected
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
    getvariable('review_days')::int as review_days
from levelled
order by review, store_id, sku
