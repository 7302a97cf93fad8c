-- What:        units and revenue of a product in a store; the API ranks them.
-- Where:       in hours of event time, one beginning every ten minutes.
-- When:        with every batch that changes an hour; on time is what was published within the
--              contract's grace.
-- Refinements: each row replaces the one before; `late_events` says how many corrected it.
SELECT hopping(event_time, INTERVAL 1 HOUR, INTERVAL 10 MINUTES) AS window_start,
       store_id,
       sku,
       units                                                     AS units,
       amount_cents                                              AS revenue_cents
FROM line
WHERE topic = 'public.sales.receipt.v1'
