"""What moved a shelf, event by event, from the lake's tables: a shelf is the sum of its movements.

A release counts as the event that it wraps, at the time that one happened, as in every running sum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS, Contract
from contracts.judging import RELEASABLE, Rejection, read
from services.api.cursors import WHOLE_MIN, Place
from services.api.lake import Reading, moment

TOPICS = (*RELEASABLE.values(), RELEASES)
"""What is read for an answer."""

MOVING: Mapping[Contract, tuple[str, ...]] = {
    RECEIPTS: ("lines",),
    REFUNDS: ("lines",),
    SHIPMENTS: ("status", "lines"),
    ADJUSTMENTS: ("sku", "units"),
}
"""By topic: the fields that say what moves."""

RECORD = ("_partition", "_offset", "_published")
SHARED = ("event_id", "event_time", *RECORD)
ORDER = ("event_time", "topic", "partition", '"offset"')
"""No two movements are equal in it."""

PLACE = "event_id, event_time, _partition, _offset, _published, _released, _from, _at"

BOTH = ",\n".join(
    f"""{topic.entity} as (
    select *, false as _released, null as _from, null as _at from {topic.entity}_in_time
    union all by name
    select *, true as _released from {topic.entity}_later
)"""
    for topic in MOVING
)
"""Of each topic the events of its table, and those that were released."""

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
"""One row per event that names the sku, whatever number of lines it does so in."""

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

BEFORE_ALL: Place = (WHOLE_MIN, "", 0, 0)


@dataclass(frozen=True)
class Span:
    """A shelf, and the time in which it moved: after the one moment, and up to the other."""

    store_id: str
    sku: str
    since_ms: int | None = None
    until_ms: int | None = None

    def where(self) -> pads.Expression:
        wanted = pads.field("store_id") == self.store_id
        if self.since_ms is not None:
            wanted &= pads.field("event_time") > moment(self.since_ms)
        if self.until_ms is not None:
            wanted &= pads.field("event_time") <= moment(self.until_ms)
        return wanted

    def beginning(self, at_ms: int) -> "Span":
        """The same from this moment on: earlier files need not be read."""
        before_ms = at_ms - 1 if self.since_ms is None else max(at_ms - 1, self.since_ms)
        return replace(self, since_ms=before_ms)

    def holds(self, event: Mapping[str, Any]) -> bool:
        """Whether an event, its times in milliseconds of 1970, happened there and then."""
        at_ms = event["event_time"]
        return (
            event["store_id"] == self.store_id
            and (self.since_ms is None or at_ms > self.since_ms)
            and (self.until_ms is None or at_ms <= self.until_ms)
        )


def shelf(reading: Reading, span: Span) -> dict[str, Any] | None:
    """What the movements add up to, times in milliseconds of 1970; None where there are none."""
    name_events(reading, span)
    [found] = reading.ask(SHELF, {"sku": span.sku})
    return found if found["version"] else None


def movements(
    reading: Reading, span: Span, after: Place | None, limit: int
) -> list[dict[str, Any]]:
    """So many of them in their order, times in milliseconds of 1970, beginning after a place."""
    name_events(reading, span if after is None else span.beginning(int(after[0])))
    names = (name.strip('"') for name in ORDER)
    place = dict(zip(names, after or BEFORE_ALL, strict=True))
    return reading.ask(PAGE, {"sku": span.sku, "limit": limit, **place})


def name_events(reading: Reading, span: Span) -> None:
    """Let `MOVED` find the events of a span: those of the tables, and the released ones."""
    released = _released(reading)
    for topic, fields in MOVING.items():
        table, columns = reading.tables[topic], (*SHARED, *fields)
        reading.name(f"{topic.entity}_in_time", table.rows(columns, span.where()))
        later = [row for row in released.get(topic, ()) if span.holds(row)]
        reading.name(f"{topic.entity}_later", _as_columns(later, table.columns(columns)))


def _released(reading: Reading) -> Mapping[Contract, list[dict[str, Any]]]:
    """The events that were released, of each the first release in its partition."""
    fields = ("topic", "partition", "offset", "original_event_id", "value")
    reading.name("release", reading.tables[RELEASES].rows((*RECORD, *fields)))
    rows = reading.ask(
        "select * replace (epoch_ms(_published) as _published) "
        "from release "
        "qualify row_number() over "
        "(partition by _partition, topic, original_event_id order by _offset) = 1"
    )
    found: dict[Contract, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(RELEASABLE[row["topic"]], []).append(_wrapped(row))
    return found


def _wrapped(release: Mapping[str, Any]) -> dict[str, Any]:
    """The event in a release, with the place of the release and of the original."""
    event = read(RELEASABLE[release["topic"]], release["value"])
    if isinstance(event, Rejection):
        at = f"{RELEASES.name}/{release['_partition']}/{release['_offset']}"
        raise TypeError(f"silver should hold accepted releases alone, found {at}: {event.found}")
    place = {name: release[name] for name in RECORD}
    return {**event, **place, "_from": release["partition"], "_at": release["offset"]}


def _as_columns(events: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Events, their times in milliseconds of 1970, in the columns that a table has."""
    of_original = (pa.field("_from", pa.int32()), pa.field("_at", pa.int64()))
    return pa.Table.from_pylist(
        [
            {**one, **{name: one[name] * 1000 for name in ("event_time", "_published")}}
            for one in events
        ],
        schema=pa.schema([*schema, *of_original]),
    )
