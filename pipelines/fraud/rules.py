"""The six rules: findings on the signals of one subject in one interval.

They are plain functions of a list of limited length. Few groups come here: `alerts.py` selects
those that may trip a rule. Each result depends on the records' contents and on when they were
published, never on the order in which they were read.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from math import asin, cos, floor, radians, sin, sqrt
from operator import attrgetter
from typing import NamedTuple

from contracts.times import MILLISECOND
from pipelines.fraud.thresholds import Thresholds

EARTH_METRES = 6_371_000

Place = tuple[int, int]
"""Latitude and longitude, in microdegrees."""


class Signal(NamedTuple):
    """What one line adds under a rule. Times are milliseconds since 1970.

    Signals sort by their fields: the one published first comes first.
    """

    published: int
    event_time: int
    event_id: str
    topic: str
    line: int
    kind: str
    store_id: str
    about: str | None
    amount: int | None
    latitude: int | None
    """In microdegrees, as the longitude."""
    longitude: int | None

    @property
    def event(self) -> tuple[str, str, int]:
        """What the lines of one event have in common."""
        return self.topic, self.event_id, self.event_time

    @property
    def place(self) -> Place:
        """The store's place; only signals of travel have one."""
        return self.latitude or 0, self.longitude or 0


class Finding(NamedTuple):
    """A rule's finding on a group."""

    measured: int
    threshold: int
    open: bool
    decided: int
    """When the record was published that first opened it; if it never opened, the record that first
    called for a look."""
    rests_on: Collection[Signal]


def card_velocity(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find too many sales within a window that ends with a sale of the interval."""
    window = limits.card_sales_window // MILLISECOND
    most = limits.card_sales_per_window_max
    ordered = sorted(signals, key=attrgetter("event_time"))
    times = [signal.event_time for signal in ordered]
    resting_on: set[int] = set()
    counts, decided = [], []
    for last in ordered:
        begins = bisect_right(times, last.event_time - window)
        ends = bisect_right(times, last.event_time)
        if last.kind == "own" and ends - begins > most:
            counts.append(ends - begins)
            reached = sorted(signal.published for signal in ordered[begins:ends])[most]
            decided.append(max(reached, last.published))
            resting_on.update(range(begins, ends))
    if not counts:
        return None
    return Finding(
        max(counts), most, True, min(decided), [ordered[position] for position in resting_on]
    )


def impossible_travel(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find two sales, the later one in the interval, too far apart for the time between them."""
    resting_on: set[Signal] = set()
    speeds, decided = [], []
    for a, b in list_trips(signals, limits):
        far = measure_metres(a.place, b.place)
        gap = max(b.event_time - a.event_time, limits.travel_gap_min // MILLISECOND)
        speed = far * 3600 // gap  # km/h = m/ms × 3600
        if far >= limits.distance_km_min * 1000 and speed > limits.speed_kmh_max:
            speeds.append(speed)
            decided.append(max(a.published, b.published))
            resting_on.update((a, b))
    if not speeds:
        return None
    return Finding(max(speeds), limits.speed_kmh_max, True, min(decided), resting_on)


def list_trips(signals: Iterable[Signal], limits: Thresholds) -> Iterator[tuple[Signal, Signal]]:
    """Pairs of sales in two stores, the later in the interval, at most `travel_gap_max` apart."""
    longest = limits.travel_gap_max // MILLISECOND
    earlier: list[Signal] = []
    for b in sorted(signals, key=attrgetter("event_time", "event_id")):
        earlier = [a for a in earlier if b.event_time - a.event_time <= longest]
        if b.kind == "own":
            yield from ((a, b) for a in earlier if a.store_id != b.store_id)
        earlier.append(b)


def sweethearting(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find too much given away, on several receipts."""
    cents, receipts = 0, 0
    decided = None
    for published, some in group_in_order(signals):
        cents += sum(list_amounts(some))
        receipts += len({signal.event for signal in some})
        enough = receipts >= limits.given_away_receipts_min
        if decided is None and enough and cents > limits.given_away_cents_max:
            decided = published
    if decided is None:
        return None
    return Finding(cents, limits.given_away_cents_max, True, decided, signals)


def refund_without_receipt(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find refunds of goods that the receipt did not sell, sku by sku.

    A large sum calls for a look; the alert is withdrawn if a receipt covers the sum.
    """
    most = limits.unbacked_cents_max
    back = [signal for signal in signals if signal.kind == "refunded"]
    if sum(list_amounts(back)) <= most:
        return None
    unbacked: Counter[str | None] = Counter()  # by sku; below zero: more was sold
    looked_at, opened, beyond, asked = None, None, 0, 0
    for published, some in group_in_order(signals):
        for signal in some:
            cents = signal.amount or 0
            beyond -= max(unbacked[signal.about], 0)
            unbacked[signal.about] += cents if signal.kind == "refunded" else -cents
            beyond += max(unbacked[signal.about], 0)
            asked += cents if signal.kind == "refunded" else 0
        if opened is None and beyond > most:
            opened = published
        if looked_at is None and asked > most:
            looked_at = published
    decided = opened if opened is not None else looked_at
    assert decided is not None, "in the end more was asked for than that"
    return Finding(beyond, most, beyond > most, decided, back)


def refund_rate(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find too many refunds without a receipt, in cash or to one card again.

    The limit grows with all refunds of the cashier: so a row may be withdrawn.
    """
    blind: list[Signal] = []
    looked_at, opened = None, None
    refunds, measured, threshold = 0, 0, 0
    for published, some in group_in_order(signals):
        refunds += len(some)
        blind += [signal for signal in some if signal.kind == "blind"]
        measured = len(blind) - len({signal.about for signal in blind if signal.about is not None})
        threshold = limits.blind_refunds_max + refunds * limits.blind_refunds_percent // 100
        if opened is None and measured > threshold:
            opened = published
        if looked_at is None and measured > limits.blind_refunds_max:
            looked_at = published
    decided = opened if opened is not None else looked_at
    if decided is None:
        return None
    return Finding(measured, threshold, measured > threshold, decided, blind)


def bulk_purchase(signals: Sequence[Signal], limits: Thresholds) -> Finding | None:
    """Find too many packs of one product."""
    most = limits.packs_hundredths_max
    by_product: dict[str | None, list[Signal]] = defaultdict(list)
    for signal in signals:
        by_product[signal.about].append(signal)
    tripped = []
    for bought in by_product.values():
        so_far, decided = 0, None
        for published, some in group_in_order(bought):
            so_far += sum(list_amounts(some))
            if decided is None and so_far > most:
                decided = published
        if decided is not None:
            tripped.append((so_far, decided, bought))
    if not tripped:
        return None
    return Finding(
        measured=max(hundredths for hundredths, _, _ in tripped),
        threshold=most,
        open=True,
        decided=min(decided for _, decided, _ in tripped),
        rests_on=[signal for _, _, bought in tripped for signal in bought],
    )


def get_threshold(rule: str, limits: Thresholds) -> int:
    """The rule's threshold, before any signal raises it."""
    return {
        "card-velocity": limits.card_sales_per_window_max,
        "impossible-travel": limits.speed_kmh_max,
        "sweethearting": limits.given_away_cents_max,
        "refund-without-receipt": limits.unbacked_cents_max,
        "refund-rate": limits.blind_refunds_max,
        "bulk-purchase": limits.packs_hundredths_max,
    }[rule]


OF_RECEIPT = "refund-without-receipt"
"""The rule whose subject is a receipt; no other rule reads a receipt's group."""

RULES: Mapping[str, Callable[[Sequence[Signal], Thresholds], Finding | None]] = {
    "card-velocity": card_velocity,
    "impossible-travel": impossible_travel,
    "sweethearting": sweethearting,
    "refund-without-receipt": refund_without_receipt,
    "refund-rate": refund_rate,
    "bulk-purchase": bulk_purchase,
}


def group_in_order(signals: Iterable[Signal]) -> list[tuple[int, list[Signal]]]:
    """The signals grouped by publication time, in order."""
    ordered = sorted(signals, key=attrgetter("published"))
    return [
        (published, list(some)) for published, some in groupby(ordered, key=attrgetter("published"))
    ]


def list_amounts(signals: Iterable[Signal]) -> list[int]:
    return [signal.amount or 0 for signal in signals]


@lru_cache(maxsize=1024)
def measure_metres(a: Place, b: Place) -> int:
    """The great-circle distance on a sphere, in metres, by the haversine formula."""
    (lat_a, lon_a), (lat_b, lon_b) = (
        (radians(latitude / 1e6), radians(longitude / 1e6)) for latitude, longitude in (a, b)
    )
    haversine = (
        sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    )
    return floor(2 * EARTH_METRES * asin(sqrt(haversine)))
