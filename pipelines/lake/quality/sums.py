"""Counts, copies and sums of many rows, in DuckDB, as small frames for expectations."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import pyarrow as pa

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract
from contracts.measures import AMOUNT
from infra.kafka import Offsets

ENGINE: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "256MB",
    "temp_directory": str(Path(gettempdir()) / "retail-checks"),
}

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

FACTS = f"""
with line as (
    select _partition, _offset, event_time, store_id, line.sku as sku, 'sold' as movement,
        line.units as units, amount(line.units, line.unit_price_cents, line.measure) as cents
    from {RECEIPTS.entity}, unnest(lines) as _(line)
    union all
    select _partition, _offset, event_time, store_id, line.sku, 'refunded',
        line.units, amount(line.units, line.unit_price_cents, line.measure)
    from {REFUNDS.entity}, unnest(lines) as _(line)
    union all
    select _partition, _offset, event_time, store_id, line.sku, 'received', line.received_units,
        null
    from {SHIPMENTS.entity}, unnest(lines) as _(line) where status = 'received'
    union all
    select _partition, _offset, event_time, store_id, sku, 'adjusted', units, null
    from {ADJUSTMENTS.entity}
)
select
    event_time::date as day,
    store_id,
    sku,
    count(distinct (_partition, _offset)) filter (movement = 'sold')                as receipts,
    coalesce(sum(units) filter (movement = 'sold'), 0)::bigint                      as units_sold,
    nearest(coalesce(sum(cents) filter (movement = 'sold'), 0))                     as sales_cents,
    coalesce(sum(units) filter (movement = 'refunded'), 0)::bigint              as units_refunded,
    nearest(coalesce(sum(cents) filter (movement = 'refunded'), 0))             as refunded_cents,
    coalesce(sum(units) filter (movement = 'received'), 0)::bigint              as units_received,
    coalesce(sum(units) filter (movement = 'adjusted'), 0)::bigint              as units_adjusted
from line
group by all
"""
"""The columns of gold, from the events of silver."""

NEAREST = f"create macro nearest(cents) as least(greatest(cents, {-(2**63)}), {2**63 - 1})::bigint"

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

GOLD = (
    *("day", "store_id", "sku", "receipts", "units_sold", "sales_cents", "units_refunded"),
    *("refunded_cents", "units_received", "units_adjusted"),
)


EXPECTED: Mapping[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    **dict.fromkeys(("start", "end"), pa.int64()),
}


def query(sql: str, **relations: Any) -> pa.Table:
    """The rows of the query over these tables and datasets of Arrow, by name."""
    with duckdb.connect(config=ENGINE) as engine:
        engine.execute("set timezone = 'UTC'")
        engine.execute(AMOUNT)
        engine.execute(NEAREST)
        for name, relation in relations.items():
            engine.register(name, relation)
        rows: pa.Table = engine.sql(sql).to_arrow_table()
        return rows


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
    sql = WRONG.format(columns=", ".join(GOLD))
    return query(sql, gold=gold, **{topic.entity: rows for topic, rows in silver.items()})


def compare_by_day(served: pa.Table, silver: Mapping[Contract, Any]) -> pa.Table:
    """A row per `day`, with silver's units sold and refunded, and those of the served view."""
    return query(BY_DAY, served=served, **{topic.entity: rows for topic, rows in silver.items()})
