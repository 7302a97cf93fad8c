-- From when on a product costs how much per piece or per measure, and until when.
with first_copy as (
    select sku, since, partition, "offset", unit_cost_cents, measure
    from announced
    qualify row_number() over (partition by partition, event_id, event_time order by "offset") = 1
)
select
    sku,
    unit_cost_cents,
    measure,
    since,
    coalesce(
        lead(since) over (partition by sku order by since, partition, "offset"),
        timestamptz '9999-12-31'
    ) as before
from first_copy
