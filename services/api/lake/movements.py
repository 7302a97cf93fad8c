"""The movements of a shelf, event by event, from the lake's tables. Their sum is the shelf.

A release counts as the event that it wraps, at the time of that event, as in every running sum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS, Contract, Row
from contracts.validation import RELEASABLE, Rejection, identify, read
from services.api.lake.tables import LakeSnapshot, Record, to_timestamp
from services.api.store.tables import WHOLE_MIN, Place

TOPICS = (*RELEASABLE.values(), RELEASES)
"""The topics that an answer reads."""

MOVING: Mapping[Contract, tuple[str, ...]] = {
    RECEIPTS: ("lines",),
    REFUNDS: ("lines",),
    SHIPMENTS: ("status", "lines"),
    ADJUSTMENTS: ("sku", "units"),
}
"""Per topic, the fields with the movements."""

RECORD = ("_partition", "_offset", "_published")
SHARED = ("event_id", "event_time", *RECORD)
ORDER = ("event_time", "topic", "partition", '"offset"')
"""The order of movements; no two are equal in it."""

PLACE = "event_id, event_time, _partition, _offset, _published, _released, _from, _at"

BOTH = ",\n".join(
    f"""{topic.entity} as (
    select *, false as _released, null as _from, null as _at from {topic.entity}_in_time
    union all by name
    select *, true as _released from {topic.entity}_later
)"""
    for topic in MOVING
)
"""Per topic, the events of its table and the released ones."""

MOVED = f"""
with {BOTH},
line as (
    select {PLACE}, '{RECEIPTS.name}' as topic, 'sold' as movement,
        line.units as units, 0 as units_shipped
    from receipt, unnest(lines) as _(line) where line.sku = $sku
    union all
    select {PLACE}, '{REFUNDS.name}', 'refunded', line.units, 0
    from refund, unnest(lines) as _(line) where line.sku = $sku
    union all
    select {PLACE}, '{SHIPMENTS.name}', status, line.received_units, line.dispatched_units
    from shipment, unnest(lines) as _(line) where line.sku = $sku
    union all
    select {PLACE}, '{ADJUSTMENTS.name}', 'adjusted', units, 0
    from adjustment where sku = $sku
),
moved as (
    select
        if(_released, '{RELEASES.name}', topic) as topic,
        _partition                              as partition,
        _offset                                 as "offset",
        event_id,
        epoch_ms(event_time)                    as event_time,
        epoch_ms(_published)                    as published_at,
        movement,
        sum(case movement when 'sold' then -units when 'dispatched' then 0 else units end)::bigint
            as units_on_hand_change,
        sum(case movement when 'dispatched' then units_shipped
            when 'received' then -units_shipped else 0 end)::bigint
            as units_in_transit_change,
        if(_released, topic, null)              as original_topic,
        _from                                   as original_partition,
        _at                                     as original_offset
    from line
    group by all
)
"""
"""One row per event that names the sku, in one line or several."""

SHELF = f"""{MOVED}
select
    coalesce(sum(units_on_hand_change), 0)::bigint                                        as units_on_hand,
    coalesce(-sum(units_on_hand_change) filter (where movement = 'sold'), 0)::bigint      as units_sold,
    coalesce(sum(units_on_hand_change) filter (where movement = 'refunded'), 0)::bigint   as units_refunded,
    coalesce(sum(units_on_hand_change) filter (where movement = 'received'), 0)::bigint   as units_received,
    coalesce(sum(units_on_hand_change) filter (where movement = 'adjusted'), 0)::bigint   as units_adjusted,
    coalesce(sum(units_in_transit_change), 0)::bigint                                     as units_in_transit,
    min(event_time)                                                                       as first_event_time,
    max(event_time)                                                                       as last_event_time,
    count(*)                                                                              as version
from moved
"""  # noqa: E501  # a table reads best as one

PAGE = f"""{MOVED}
from moved
where ({", ".join(ORDER)}) > ($event_time, $topic, $partition, $offset)
order by {", ".join(ORDER)}
limit $limit
"""

OUTS = f"""{MOVED},
-- What happens at one moment is one step.
step as (
    select event_time, sum(units_on_hand_change) as change, max(published_at) as published_at
    from moved
    where movement <> 'dispatched'
    group by event_time
),
level as (
    select
        event_time,
        sum(change) over past        as units,
        max(published_at) over past  as known_at
    from step
    window past as (order by event_time)
),
-- Consecutive levels with nothing to sell have the same number of stocked levels before them.
numbered as (
    select *, count(*) filter (where units > 0) over (order by event_time) as stocked
    from level
),
out as (
    select
        stocked,
        min(event_time) as started_at,
        min(units)      as units_on_hand_min,
        max(known_at)   as known_at
    from numbered
    where units <= 0
    group by stocked
),
lasting as (
    select
        out.started_at,
        refill.event_time                           as ended_at,
        out.units_on_hand_min::bigint               as units_on_hand_min,
        coalesce(refill.known_at, out.known_at)     as known_at,
        coalesce(refill.event_time, $until)         as lasted_until,
        lasted_until - greatest(out.started_at, $since) as lost_ms
    from out
    left join numbered as refill
        on refill.units > 0 and refill.stocked = out.stocked + 1
    where coalesce(lasted_until > $since, true)
)
select *
from (select *, coalesce(sum(lost_ms) over (), 0)::bigint as lost_ms_in_all from lasting)
where started_at > $after
order by started_at
limit $limit
"""
"""The times in which a shelf had nothing to sell. A late movement may begin or undo one, so each
answer computes them anew."""

BEFORE_ALL: Place = (WHOLE_MIN, "", 0, 0)


@dataclass(frozen=True)
class Span:
    """A shelf and a time: after `since_ms`, up to and including `until_ms`."""

    store_id: str
    sku: str
    since_ms: int | None = None
    until_ms: int | None = None

    def to_filter(self) -> pc.Expression:
        wanted = pc.field("store_id") == self.store_id
        if self.since_ms is not None:
            wanted &= pc.field("event_time") > to_timestamp(self.since_ms)
        if self.until_ms is not None:
            wanted &= pc.field("event_time") <= to_timestamp(self.until_ms)
        return wanted

    def begin_at(self, at_ms: int) -> "Span":
        """The same shelf from this moment on, so that a query skips earlier files."""
        before_ms = at_ms - 1 if self.since_ms is None else max(at_ms - 1, self.since_ms)
        return replace(self, since_ms=before_ms)

    def contains(self, event: Row) -> bool:
        """Whether the event, with times in epoch ms, happened in the store and in the time."""
        at_ms = event["event_time"]
        return (
            event["store_id"] == self.store_id
            and (self.since_ms is None or at_ms > self.since_ms)
            and (self.until_ms is None or at_ms <= self.until_ms)
        )


def sum_movements(snapshot: LakeSnapshot, span: Span) -> dict[str, int] | None:
    """The columns of a shelf without its key, times in epoch ms; None without a movement."""
    register_events(snapshot, span)
    [shelf] = snapshot.query(SHELF, {"sku": span.sku})
    return shelf if shelf["version"] else None


def find_movements(
    snapshot: LakeSnapshot, span: Span, after: Place | None, limit: int
) -> list[Record]:
    """At most `limit` events that moved a shelf, after a place, in order.

    The columns are those of `MOVED`, times in milliseconds since 1970. The columns `original_…` say
    where a released event was rejected; they are None for any other event.
    """
    register_events(snapshot, span if after is None else span.begin_at(int(after[0])))
    names = (name.strip('"') for name in ORDER)
    place = dict(zip(names, after or BEFORE_ALL, strict=True))
    return snapshot.query(PAGE, {"sku": span.sku, "limit": limit, **place})


def find_stock_outs(
    snapshot: LakeSnapshot, span: Span, after_ms: int = WHOLE_MIN, limit: int | None = None
) -> list[Record]:
    """The stock-outs that lasted in the span and began after a moment, in order.

    Times are in milliseconds since 1970. `ended_at` and `lost_ms` are None while it lasts;
    `lost_ms_in_all` is the lost time of all stock-outs of the span.
    """
    since_ms = WHOLE_MIN if span.since_ms is None else span.since_ms
    # A level is the sum of all earlier movements: read all of them.
    register_events(snapshot, Span(span.store_id, span.sku, until_ms=span.until_ms))
    values = {
        "sku": span.sku,
        "since": since_ms,
        "until": span.until_ms,
        "after": after_ms,
        "limit": limit,
    }
    return snapshot.query(OUTS, values)


def register_events(snapshot: LakeSnapshot, span: Span) -> None:
    """Register the relations that `MOVED` reads: the events of a span, and the released ones."""
    released = _read_released(snapshot)
    for topic, fields in MOVING.items():
        table, columns = snapshot.tables[topic], (*SHARED, *fields)
        snapshot.register(f"{topic.entity}_in_time", table.read(columns, span.to_filter()))
        later = [row for row in released.get(topic, ()) if span.contains(row)]
        snapshot.register(
            f"{topic.entity}_later",
            _to_columns(later, [table.dataset.schema.field(name) for name in columns]),
        )


def _read_released(snapshot: LakeSnapshot) -> Mapping[Contract, list[Row]]:
    """The released events; of each, the first release in its partition counts."""
    fields = ("topic", "partition", "offset", "value")
    snapshot.register("release", snapshot.tables[RELEASES].read((*RECORD, *fields)))
    rows = snapshot.query(
        "select * replace (epoch_ms(_published) as _published) from release "
        "order by _partition, _offset"
    )
    released: dict[Contract, dict[tuple[Any, ...], Row]] = {}
    for row in rows:
        topic, event = RELEASABLE[row["topic"]], _unwrap(row)
        of_topic = released.setdefault(topic, {})
        of_topic.setdefault((row["_partition"], *identify(topic, event)), event)
    return {topic: list(events.values()) for topic, events in released.items()}


def _unwrap(release: Row) -> Row:
    """The event in a release, with the places of the release and of the original."""
    event = read(RELEASABLE[release["topic"]], release["value"])
    if isinstance(event, Rejection):
        found = f"{RELEASES.name}/{release['_partition']}/{release['_offset']}"
        raise TypeError(f"silver should hold only accepted releases, found {found}: {event.found}")
    place = {name: release[name] for name in RECORD}
    return {**event, **place, "_from": release["partition"], "_at": release["offset"]}


def _to_columns(events: Iterable[Row], columns: "Iterable[pa.Field[Any]]") -> pa.Table:
    """Events with times in milliseconds since 1970, as a table with these columns."""
    of_original = (pa.field("_from", pa.int32()), pa.field("_at", pa.int64()))
    return pa.Table.from_pylist(
        [
            {**event, **{name: event[name] * 1000 for name in ("event_time", "_published")}}
            for event in events
        ],
        schema=pa.schema([*columns, *of_original]),
    )
