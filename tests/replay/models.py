"""Each view as plain Python computes it: over all records at once, event by event, in memory."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from contracts import (
    ADJUSTMENTS,
    ALERTS,
    BEST_SELLERS,
    DAILY_DEMAND,
    PRODUCTS,
    PROPOSALS,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    STOCK_LEVELS,
    STORE_SALES,
    VISITS,
    Contract,
    Undecodable,
    decode,
    encode_key,
    get_contract,
)
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Record
from ops.verify.fraud import FraudOracle
from ops.verify.oracles import ReorderOracle
from pipelines.common.transform.full_sums import SUMS_IN_FULL
from pipelines.reorder.pipeline import POLICY
from pipelines.visits.pipeline import LIMITS
from tests import timeline
from tests.timeline import APPLES

Row = dict[str, Any]

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
PAUSE = LIMITS.pause_minutes * MINUTE


@dataclass(frozen=True)
class Applied:
    """An accepted event, counted once."""

    topic: str
    """Of a release, that of the event within."""
    event: Row
    published: datetime
    released: bool

    @property
    def at(self) -> datetime:
        found: datetime = self.event["event_time"]
        return found


@dataclass(frozen=True)
class World:
    """What became of some records."""

    applied: tuple[Applied, ...]
    books: Mapping[str, tuple[int, int]]
    """By topic: how many were applied, and how many rejected."""
    records: tuple[Record, ...]


def account(records: Iterable[Record]) -> World:
    """What becomes of the records: the first copy of an accepted event is applied."""
    listed, found = tuple(records), []
    applied: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    seen: set[tuple[str, str, datetime]] = set()
    for record in listed:
        one = accept(record)
        if one is None:
            rejected[record.topic] += 1
            continue
        identity = f"{one.topic}/{one.event['event_id']}" if one.released else one.event["event_id"]
        if (record.topic, identity, one.at) not in seen:
            seen.add((record.topic, identity, one.at))
            applied[record.topic] += 1
            found.append(one)
    books = {topic: (applied[topic], rejected[topic]) for topic in applied | rejected}
    return World(tuple(found), books, listed)


def accept(record: Record) -> Applied | None:
    """The event of an accepted record; None: it is malformed, late, or ahead."""
    published = EPOCH + record.published_ms * MILLISECOND
    own = get_contract(record.topic)
    try:
        event = dict(decode(record.value).value)
    except Undecodable:
        return None
    late_by = published - event["event_time"]
    if own.horizon is not None and late_by > own.horizon:
        return None
    if own.skew is not None and -late_by > own.skew:
        return None
    if own is RELEASES:
        return Applied(event["topic"], dict(decode(event["value"]).value), published, True)
    return Applied(record.topic, event, published, False)


def compute_stock_levels(world: World) -> Iterator[Row]:
    shelves: dict[tuple[str, str], Row] = {}
    for one in world.applied:
        for sku in dict.fromkeys(line["sku"] for line in list_lines(one)):
            shelf = shelves.setdefault((one.event["store_id"], sku), create_shelf(one, sku))
            shelf["version"] += 1
            shelf["first_event_time"] = min(shelf["first_event_time"], one.at)
            shelf["last_event_time"] = max(shelf["last_event_time"], one.at)
        for line in list_lines(one):
            move(shelves[one.event["store_id"], line["sku"]], one, line)
    yield from shelves.values()


def list_lines(one: Applied) -> list[Row]:
    """What moves shelves; an adjustment is its own line."""
    alone = [one.event] if one.topic == ADJUSTMENTS.name else []
    found: list[Row] = one.event.get("lines", alone)
    return found


def create_shelf(one: Applied, sku: str) -> Row:
    nothing = [field.name for field in STOCK_LEVELS.fields if field.name.startswith("units_")]
    return {
        "store_id": one.event["store_id"],
        "sku": sku,
        **dict.fromkeys(nothing, 0),
        "first_event_time": one.at,
        "last_event_time": one.at,
        "version": 0,
    }


def move(shelf: Row, one: Applied, line: Row) -> None:
    if one.topic == SHIPMENTS.name:
        if one.event["status"] == "dispatched":
            shelf["units_in_transit"] += line["dispatched_units"]
            return
        shelf["units_in_transit"] -= line["dispatched_units"]
        shelf["units_received"] += line["received_units"]
        shelf["units_on_hand"] += line["received_units"]
        return
    what, sign = {
        RECEIPTS.name: ("units_sold", -1),
        REFUNDS.name: ("units_refunded", 1),
        ADJUSTMENTS.name: ("units_adjusted", 1),
    }[one.topic]
    shelf[what] += line["units"]
    shelf["units_on_hand"] += sign * line["units"]


Key = tuple[Any, ...]
Amounts = Mapping[str, int]


def compute_windows(
    view: Contract, added: Iterable[tuple[Key, datetime, Applied, Amounts]]
) -> Iterator[Row]:
    """The rows of a view of windows.

    What is added: the key of its row, when that is over, by which event, and its numbers.
    """
    assert view.grace is not None, "a view of windows says what is on time"
    [ends] = [field.name for field in view.fields if field.name in ("window_end", "day_end")]
    rows: dict[Key, Row] = {}
    events: dict[Key, set[tuple[str, str, datetime]]] = defaultdict(set)
    for at, over, one, amounts in added:
        if at not in rows:
            nothing = {f"{name}{twin}": 0 for name in amounts for twin in ("", "_on_time")}
            rows[at] = {
                **dict(zip(view.key, at, strict=True)),
                ends: over,
                **nothing,
                "late_events": 0,
                "last_late_event_time": None,
                "version": 0,
            }
        row, late = rows[at], one.published > over + view.grace
        for name, amount in amounts.items():
            row[name] += amount
            row[f"{name}_on_time"] += 0 if late else amount
        identity = one.topic, one.event["event_id"], one.at
        if identity not in events[at]:
            events[at].add(identity)
            row["version"] += 1
            row["late_events"] += late
            if late:
                row["last_late_event_time"] = max(row["last_late_event_time"] or one.at, one.at)
    yield from rows.values()


def find_start(at: datetime, length: timedelta) -> datetime:
    return at - (at - EPOCH) % length


def list_sales(world: World) -> Iterator[tuple[Applied, int, Row]]:
    """Of each receipt that windows count, each line, with its number."""
    for one in world.applied:
        if one.topic == RECEIPTS.name and not one.released:
            for number, line in enumerate(list_lines(one)):
                yield one, number, line


COST_CENTS = int(PRODUCTS.examples[0]["unit_cost_cents"])
"""Of every product that the shop knows."""

SOLD_BY: Mapping[str, str | None] = {**dict.fromkeys(timeline.PRICES), APPLES: "kilogram"}
"""Each product that the shop knows, and its measure."""


def create_shop() -> timeline.Timeline:
    """A shop that sells by the piece and by the kilogram."""
    shop = timeline.Timeline()
    shop.introduce_apples()
    return shop


def compute_amount(line: Row, cents: int) -> int:
    """What the line comes to at this price."""
    exact = Decimal(line["units"] * cents)
    if line["measure"] is not None:
        exact /= 1_000
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def compute_revenue(line: Row) -> int:
    return compute_amount(line, line["unit_price_cents"])


def compute_store_sales(world: World) -> Iterator[Row]:
    return compute_windows(
        STORE_SALES,
        (
            (
                (one.event["store_id"], (start := find_start(one.at, MINUTE))),
                start + MINUTE,
                one,
                {
                    "receipts": int(number == 0),
                    "units": line["units"],
                    "revenue_cents": compute_revenue(line),
                    **compute_margin(line),
                },
            )
            for one, number, line in list_sales(world)
        ),
    )


def compute_margin(line: Row) -> Amounts:
    if line["sku"] not in SOLD_BY or SOLD_BY[line["sku"]] != line["measure"]:
        return {"margin_cents": 0, "units_without_cost": line["units"]}
    gained = compute_revenue(line) - compute_amount(line, COST_CENTS)
    return {"margin_cents": gained, "units_without_cost": 0}


def compute_best_sellers(world: World) -> Iterator[Row]:
    return compute_windows(
        BEST_SELLERS,
        (
            (
                (start, one.event["store_id"], line["sku"]),
                start + 60 * MINUTE,
                one,
                {"units": line["units"], "revenue_cents": compute_revenue(line)},
            )
            for one, _, line in list_sales(world)
            for step in range(6)
            for start in [find_start(one.at, 10 * MINUTE) - step * 10 * MINUTE]
        ),
    )


def compute_daily_demand(world: World) -> Iterator[Row]:
    return compute_windows(
        DAILY_DEMAND,
        (
            (
                ((start := find_start(one.at, DAY)), one.event["store_id"], line["sku"]),
                start + DAY,
                one,
                {
                    "units_sold": line["units"] * (one.topic == RECEIPTS.name),
                    "units_refunded": line["units"] * (one.topic == REFUNDS.name),
                },
            )
            for one in world.applied
            if one.topic in (RECEIPTS.name, REFUNDS.name) and not one.released
            for line in list_lines(one)
        ),
    )


def compute_visits(world: World) -> Iterator[Row]:
    """A row for each slot in which a customer has a receipt."""
    days: dict[tuple[str, datetime], list[Applied]] = defaultdict(list)
    for one in world.applied:
        customer = one.event.get("customer_id")
        if one.topic == RECEIPTS.name and not one.released and customer is not None:
            escaped = customer.replace("%", "%25").replace("/", "%2F")
            days[escaped, find_start(one.at, DAY)].append(one)
    for (customer, day), receipts in days.items():
        moments = sorted({one.at for one in receipts})
        slots = {at: day + (at - day) // PAUSE * PAUSE for at in moments}
        for number, moment in enumerate(moments):
            before = moments[number - 1] if number else None
            if before and slots[before] == slots[moment]:
                continue
            last = moment
            for later in moments[number + 1 :]:
                if later - last >= PAUSE:
                    break
                last = later
            own = [one for one in receipts if moment <= one.at <= last]
            sold = [line for one in own for line in list_lines(one)]
            yield {
                "customer_id": customer,
                "slot_start": slots[moment],
                "visit_start": moment,
                "visit_end": last,
                "window_end": min(last + PAUSE, day + DAY),
                "status": "withdrawn" if before and moment - before < PAUSE else "counted",
                "receipts": len(own),
                "stores": min(len({one.event["store_id"] for one in own}), LIMITS.stores_max),
                "units": sum(line["units"] for line in sold),
                "spent_cents": sum(map(compute_revenue, sold)),
                "version": len(receipts),
            }


MODELS: Mapping[str, Callable[[World], Iterable[Row]]] = {
    STOCK_LEVELS.name: compute_stock_levels,
    STORE_SALES.name: compute_store_sales,
    BEST_SELLERS.name: compute_best_sellers,
    DAILY_DEMAND.name: compute_daily_demand,
    VISITS.name: compute_visits,
    # Rules and levels in memory too, but in SQL: in Python they would be the pipelines' own.
    ALERTS.name: lambda world: FraudOracle(world.records, timeline.LIMITS).compute_view(),
    PROPOSALS.name: lambda world: ReorderOracle(world.records, POLICY).compute_view(),
}
"""By view."""


def compute_rows(views: Sequence[Contract], world: World) -> dict[str, dict[bytes, Row]]:
    """The rows of the views, by view and key. No sum of a made-up world is beyond 64 bits."""
    found: dict[str, dict[bytes, Row]] = {}
    for view in views:
        optional = {SUMS_IN_FULL} & {field.name for field in view.fields}
        nothing: Row = dict.fromkeys(optional)
        found[view.name] = {
            encode_key(view, row): nothing | row for row in MODELS[view.name](world)
        }
    return found
