"""The six rules: what the clues of one subject in one interval amount to.

Plain functions of a list: few groups ever come here, since `suspicion.py` lets through only what
may trip a rule. Each result depends on what the records say and on when they were published, never
on the order in which they were read.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import combinations, groupby
from math import asin, cos, floor, radians, sin, sqrt
from operator import attrgetter
from typing import NamedTuple

from pipelines.fraud.thresholds import Thresholds

EARTH_METRES = 6_371_000
MILLISECOND = timedelta(milliseconds=1)


class Clue(NamedTuple):
    """What one line says of a subject. Times are milliseconds of 1970."""

    topic: str
    event_id: str
    event_time: int
    published: int
    store_id: str
    line: int
    kind: str
    about: str | None
    amount: int | None
    latitude: int | None
    """In microdegrees, as the longitude."""
    longitude: int | None


class Finding(NamedTuple):
    """What a rule found."""

    measured: int
    threshold: int
    open: bool
    decided: int
    """When the record was published with which it first was open; else, that called for a look."""
    rests_on: Collection[Clue]


def card_velocity(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Too many sales within a window that ends with a sale of the interval."""
    window = limits.card_sales_window // MILLISECOND
    most = limits.card_sales_per_window_max
    tripped = []
    for last in clues:
        within = [one for one in clues if 0 <= last.event_time - one.event_time < window]
        if last.kind == "own" and len(within) > most:
            reached = sorted(one.published for one in within)[most]
            tripped.append((within, max(reached, last.published)))
    if not tripped:
        return None
    return Finding(
        measured=max(len(within) for within, _ in tripped),
        threshold=most,
        open=True,
        decided=min(decided for _, decided in tripped),
        rests_on=[one for within, _ in tripped for one in within],
    )


def impossible_travel(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Two sales, the later one of the interval, too far apart for the time between them."""
    tripped = []
    for a, b in combinations(sorted(clues, key=attrgetter("event_time", "event_id")), 2):
        gap = b.event_time - a.event_time
        if (
            b.kind != "own"
            or a.store_id == b.store_id
            or gap > limits.travel_gap_max // MILLISECOND
        ):
            continue
        far = metres(a, b)
        speed = far * 3600 // max(gap, limits.travel_gap_min // MILLISECOND)  # km/h = m/ms × 3600
        if far >= limits.distance_km_min * 1000 and speed > limits.speed_kmh_max:
            tripped.append((a, b, speed))
    if not tripped:
        return None
    return Finding(
        measured=max(speed for _, _, speed in tripped),
        threshold=limits.speed_kmh_max,
        open=True,
        decided=min(max(a.published, b.published) for a, b, _ in tripped),
        rests_on=[one for a, b, _ in tripped for one in (a, b)],
    )


def sweethearting(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Too much given away, on several receipts."""
    cents, receipts = 0, 0
    decided = None
    for published, some in in_order(clues):
        cents += sum(amounts(some))
        receipts += len({(one.topic, one.event_id) for one in some})
        enough = receipts >= limits.given_away_receipts_min
        if decided is None and enough and cents > limits.given_away_cents_max:
            decided = published
    if decided is None:
        return None
    return Finding(cents, limits.given_away_cents_max, True, decided, clues)


def refund_without_receipt(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Money for goods that the receipt did not sell, sku by sku.

    Who asks for much is looked at, and is in order once the receipt is there that covers it.
    """
    most = limits.unbacked_cents_max
    back = [one for one in clues if one.kind == "refunded"]
    if sum(amounts(back)) <= most:
        return None
    asked: Counter[str | None] = Counter()
    sold: Counter[str | None] = Counter()
    looked_at, opened, beyond = None, None, 0
    for published, some in in_order(clues):
        for one in some:
            (asked if one.kind == "refunded" else sold)[one.about] += one.amount or 0
        beyond = sum(max(cents - sold[sku], 0) for sku, cents in asked.items())
        if opened is None and beyond > most:
            opened = published
        if looked_at is None and asked.total() > most:
            looked_at = published
    decided = opened if opened is not None else looked_at
    assert decided is not None, "in the end more was asked for than that"
    return Finding(beyond, most, beyond > most, decided, back)


def refund_rate(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Refunds in cash or to one card again, without a receipt, beyond what so many explain.

    The limit grows with what is refunded: then a row may be withdrawn.
    """
    cents: Counter[tuple[str, str]] = Counter()
    for one in clues:
        cents[one.topic, one.event_id] += one.amount or 0
    whole = [one for one in clues if one.line == 0]
    blind: list[Clue] = []
    looked_at, opened = None, None
    refunds, measured, threshold = 0, 0, 0
    for published, some in in_order(whole):
        refunds += len(some)
        blind += [
            one
            for one in some
            if one.kind == "unnamed"
            and cents[one.topic, one.event_id] >= limits.blind_refund_cents_min
        ]
        measured = len(blind) - len({one.about for one in blind if one.about is not None})
        threshold = limits.blind_refunds_max + refunds * limits.blind_refunds_percent // 100
        if opened is None and measured > threshold:
            opened = published
        if looked_at is None and measured > limits.blind_refunds_max:
            looked_at = published
    decided = opened if opened is not None else looked_at
    if decided is None:
        return None
    return Finding(measured, threshold, measured > threshold, decided, blind)


def bulk_purchase(clues: Sequence[Clue], limits: Thresholds) -> Finding | None:
    """Too many packs of one product."""
    most = limits.packs_hundredths_max
    by_product: Mapping[str | None, list[Clue]] = grouped(clues, attrgetter("about"))
    tripped = []
    for bought in by_product.values():
        so_far, decided = 0, None
        for published, some in in_order(bought):
            so_far += sum(amounts(some))
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
        rests_on=[one for _, _, bought in tripped for one in bought],
    )


RULES: Mapping[str, Callable[[Sequence[Clue], Thresholds], Finding | None]] = {
    "card-velocity": card_velocity,
    "impossible-travel": impossible_travel,
    "sweethearting": sweethearting,
    "refund-without-receipt": refund_without_receipt,
    "refund-rate": refund_rate,
    "bulk-purchase": bulk_purchase,
}


def in_order(clues: Iterable[Clue]) -> list[tuple[int, list[Clue]]]:
    """The clues by the moment of their publication, the first one first."""
    ordered = sorted(clues, key=attrgetter("published"))
    return [(at, list(some)) for at, some in groupby(ordered, key=attrgetter("published"))]


def grouped(
    clues: Iterable[Clue], by: Callable[[Clue], str | None]
) -> Mapping[str | None, list[Clue]]:
    found: dict[str | None, list[Clue]] = defaultdict(list)
    for one in clues:
        found[by(one)].append(one)
    return found


def amounts(clues: Iterable[Clue]) -> list[int]:
    return [one.amount or 0 for one in clues]


def metres(a: Clue, b: Clue) -> int:
    """As the crow flies, on a ball: the haversine formula."""
    lat_a, lon_a, lat_b, lon_b = (
        radians((degrees or 0) / 1e6)
        for degrees in (a.latitude, a.longitude, b.latitude, b.longitude)
    )
    haversine = (
        sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    )
    return floor(2 * EARTH_METRES * asin(sqrt(haversine)))
