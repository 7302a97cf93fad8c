-- What:        units sold and taken back of a shelf.
-- Where:       in days of event time.
-- When:        with every batch that changes a day; on time is what was published within the
--              contract's grace.
-- Refinements: each row replaces the one before; `late_events` says how many corrected it.
SELECT tumbling(event_time, INTERVAL 1 DAY) AS day_start,
       store_id,
       sku,
       if(topic = 'public.sales.receipt.v1', units, 0)      AS units_sold,
       if(topic = 'public.sales.refund.v1', units, 0)       AS units_refunded
FROM line
