-- What:        receipts, units, revenue and margin of a store.
-- Where:       in minutes of event time.
-- When:        with every batch that changes a minute; on time is what was published a minute
--              after its end at the latest, and the row is closed when nothing can be in time.
-- Refinements: each row replaces the one before; `late_events` says how many corrected it.
SELECT store_id,
       tumbling(event_time, INTERVAL 1 MINUTE)             AS window_start,
       if(first_line, 1, 0)                                AS receipts,
       units                                               AS units,
       amount_cents                                        AS revenue_cents,
       coalesce(amount_cents - cost_cents, 0)              AS margin_cents,
       if(cost_cents IS NULL, units, 0)                    AS units_without_cost
FROM line
WHERE topic = 'public.sales.receipt.v1'
