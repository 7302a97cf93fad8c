"""Counts, copies and sums of many rows, in DuckDB, as small frames for expectations."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from contracts import Contract
from infra.kafka import Offsets
from pipelines.lake.tables import FACT, query
from pipelines.lake.transform import FACTS

Count = Callable[[Offsets, Offsets], Offsets]
"""Counts the committed records of the log between offsets, per partition."""

COUNTS = """
with found as (
    select
        topic,
        partition,
        sum(copies)::bigint  as records,
        count(*)             as different,
        max("offset") + 1    as after_last
    from (select topic, partition, "offset", count(*) as copies from records group by all)
    group by all
)
select
    topic,
    partition,
    coalesce("end", 0)                   as "end",
    coalesce("end" - start, 0)           as offsets,
    coalesce(records, 0)                 as records,
    coalesce(different, 0)               as different,
    coalesce(after_last, 0)              as after_last,
    coalesce("end" - start, 0) - coalesce(different, 0) as gaps
from expected full join found using (topic, partition)
order by topic, partition
"""

COPIES = """
select _partition, event_id, event_time, count(*) as copies, list(_offset order by _offset) as
    offsets
from near semi join new using (_partition, event_id, event_time)
group by all
having count(*) > 1
order by _partition, event_time, event_id
"""

WRONG = f"""
with facts as ({FACTS}),
kept as (select {{columns}} from gold)
select 'gold' as "only in", * from (from kept except all select {{columns}} from facts)
union all
select 'silver', * from (select {{columns}} from facts except all from kept)
order by day, store_id, sku, 1
"""

BY_DAY = f"""
with facts as ({FACTS}),
day as (
    select day, sum(units_sold)::bigint as units_sold, sum(units_refunded)::bigint as units_refunded
    from facts
    group by day
    having sum(units_sold) <> 0 or sum(units_refunded) <> 0
),
view as (
    select day_start::date as day, sum(units_sold)::bigint as units_sold_served,
        sum(units_refunded)::bigint as units_refunded_served
    from served
    group by all
)
select day, coalesce(units_sold, 0) as units_sold, coalesce(units_refunded, 0) as units_refunded,
    coalesce(units_sold_served, 0) as units_sold_served,
    coalesce(units_refunded_served, 0) as units_refunded_served
from day full join view using (day)
order by day
"""

EXPECTED: Mapping[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    **dict.fromkeys(("start", "end"), pa.int64()),
}


def count_records(records: Any, starts: Offsets, ends: Offsets, count_committed: Count) -> pa.Table:
    """A row per partition that holds, or should hold, records from its start: their number, that of
    offsets, and `gaps_max`: how many offsets have no record in the log either, as the markers of
    transactions and what was deleted since. The log is read only where the table has gaps.
    """
    expected = [
        {"topic": topic, "partition": partition, "start": start, "end": end}
        for (topic, partition), end in ends.items()
        if end > (start := starts.get((topic, partition), 0))
    ]
    counts = query(
        COUNTS, records=records, expected=pa.Table.from_pylist(expected, pa.schema(EXPECTED))
    )
    rows = counts.to_pylist()
    gaps = [(row["topic"], row["partition"]) for row in rows if row["gaps"] > 0]
    committed = count_committed(starts, {partition: ends[partition] for partition in gaps})
    gaps_max = [
        row["offsets"] - committed[place]
        if (place := (row["topic"], row["partition"])) in gaps
        else 0
        for row in rows
    ]
    return counts.append_column("gaps_max", pa.array(gaps_max, pa.int64()))


def find_copies(new: pa.Table, near: Any) -> pa.Table:
    """The events that are more than once among the rows `near`, of those that `new` has."""
    return query(COPIES, new=new, near=near)


def find_wrong_sums(gold: Any, silver: Mapping[Contract, Any]) -> pa.Table:
    """The rows of gold that differ from silver, and those that gold lacks, with gold's columns.

    `only in` says on which side the row is.
    """
    sql = WRONG.format(columns=", ".join(FACT.names))
    return query(sql, gold=gold, **{topic.entity: rows for topic, rows in silver.items()})


def compare_by_day(served: pa.Table, silver: Mapping[Contract, Any]) -> pa.Table:
    """A row per `day`, with silver's units sold and refunded, and those of the served view."""
    return query(BY_DAY, served=served, **{topic.entity: rows for topic, rows in silver.items()})
