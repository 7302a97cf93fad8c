"""Records to events, and events to daily facts."""

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract, Row
from contracts.validation import Rejection, validate
from pipelines.lake.tables import MOMENT

MOVES = (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)
"""The topics whose events move stock."""

IDENTITY = ("_partition", "event_id", "event_time")
"""What copies of an event have in common: `contracts.validation.identify`."""

DAY, MOMENT_MAX = 24 * 60 * 60 * 1_000_000, 2**63 - 1
CALENDAR = range(-719_162, 2_932_897)
"""The days of the years 1 to 9999, as numbers from 1970: those of daily facts."""

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
"""A row per UTC day, store and sku, from the events of silver that move stock.

Every event within its topic's horizon counts; releases do not, as in any window. Cents that do not
fit into 64 bits are the nearest number that does.
"""


def accept(topic: Contract, records: Iterable[Row]) -> Iterator[Row]:
    """The accepted events of the topic's records, validated as by every reader.

    An event has the fields of the contract, `_partition`, `_offset` and `_published`; times are
    microseconds of 1970. That of a release is the release itself; the event in it stays wrapped.
    """
    for record in records:
        published_ms = record["timestamp"] // 1000
        partition = record["partition"]
        event = validate(topic, record["key"], record["value"], published_ms, partition)
        if isinstance(event, Rejection):
            continue
        times = {name: None if event[name] is None else event[name] * 1000 for name in topic.times}
        place = {"_partition": partition, "_offset": record["offset"]}
        yield {**event, **times, **place, "_published": record["timestamp"]}


def keep_new(events: Iterable[Row], silver: Any) -> list[Row]:
    """Of each event the first copy in its partition, unless the dataset has one.

    An event is looked for from the time on of the oldest one.
    """
    first: dict[tuple[Any, ...], Row] = {}
    for event in events:
        first.setdefault(tuple(event[name] for name in IDENTITY), event)
    if not first:
        return []
    oldest = to_moment(min(event["event_time"] for event in first.values()))
    columns = {name: pc.field(name) for name in IDENTITY[:-1]}
    columns["event_time"] = pc.field("event_time").cast(pa.int64())
    near = silver.to_table(columns=columns, filter=pc.field("event_time") >= oldest)
    for copy in zip(*[near[name].to_pylist() for name in IDENTITY], strict=True):
        first.pop(copy, None)
    return [*first.values()]


def list_days(events: Any) -> set[int]:
    """The days of UTC of a calendar on which these events happened, as numbers from 1970."""
    days = pc.unique(number_days(events.to_table(columns=["event_time"])["event_time"]))
    return {day for day in days.to_pylist() if day in CALENDAR}


def number_days(times: Any) -> Any:
    """The days of UTC, as numbers from 1970: a calendar may not have them."""
    return times.cast(pa.timestamp("us")).cast(pa.date32()).cast(pa.int32())


def is_on(days: Collection[int]) -> pc.Expression:
    """Whether an event happened on one of these days of UTC."""
    time = pc.field("event_time")
    each = ((time >= begin_of(day)) & (time < begin_of(day + 1)) for day in days)
    return reduce(or_, each, pc.scalar(False))


def begin_of(day: int) -> "pa.Scalar[Any]":
    """The first moment of the day, as silver has its times; out of range, the nearest one."""
    return to_moment(max(-MOMENT_MAX, min(day * DAY, MOMENT_MAX)))


def to_moment(microseconds: int) -> "pa.Scalar[Any]":
    return pa.scalar(microseconds, pa.int64()).cast(MOMENT)
