"""What markdowns are worth: one simulated world with its usual prices only, and the same world with
the markdowns of the policy.

The world, the policy and the gate's decision are the real code; only the log is missing.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contracts import (
    ADJUSTMENTS,
    PRICE_CHANGES,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    holds_from,
)
from generators.event import Event, Publication
from generators.parameters import Parameters
from generators.prices import PriceSet
from generators.products import HOURS_PER_DAY
from generators.ticks import TICKS_PER_HOUR, to_tick_start_ms
from generators.world import World
from pipelines.pricing.policy import count_half_hours_per_day, derive_bounds, lower_price_cents
from pipelines.pricing.thresholds import Thresholds
from pipelines.reorder.policy import Policy
from services.markdowns.decision import HALF_HOUR_MS, Decision, Markdowns, Proposal
from services.markdowns.prices import PriceChange
from services.moves import DAY_MS

HOUR_MS = 2 * HALF_HOUR_MS
PERIODS_MS = {"day": DAY_MS, "half-hour": HALF_HOUR_MS}
HOLDING_PER_DAY = Policy.holding_per_day


@dataclass
class Margin:
    """Money of all stores of a world so far, in cents."""

    revenue_cents: int = 0
    """What was paid, less what was paid back."""
    goods_cents: int = 0
    """The cost of the goods that were sold, less of those that came back."""
    holding_cents: float = 0.0
    """What it cost to hold stock, as a share of its cost."""
    stock_cents: int = 0
    """The cost of the goods that lie there at the end; part of no sum."""
    markdowns: int = 0

    @property
    def cents(self) -> float:
        return self.revenue_cents - self.goods_cents - self.holding_cents

    def take(self, publication: Publication, costs: Mapping[str, int]) -> None:
        """Add a sale or a refund. `costs`: of a unit, by sku."""
        sign = {RECEIPTS.name: 1, REFUNDS.name: -1}.get(publication.topic, 0)
        for line in publication.event["lines"] if sign else ():
            self.revenue_cents += sign * line["units"] * line["unit_price_cents"]
            self.goods_cents += sign * line["units"] * costs[line["sku"]]

    def close_hour(self, world: World, costs: Mapping[str, int]) -> None:
        self.stock_cents = sum(
            units * costs[sku]
            for store_id in world.store_ids
            for sku, units in world.count_units(store_id).items()
        )
        self.holding_cents += self.stock_cents * HOLDING_PER_DAY / HOURS_PER_DAY


class Interval(NamedTuple):
    """What moved of a product."""

    sold: Counter[str]
    moved: Counter[str]


class Pricing:
    """The pipeline's proposals and the gate's decisions, on what a world publishes."""

    def __init__(self, costs: Mapping[str, int], limits: Thresholds) -> None:
        """`costs`: of a unit in cents, by sku."""
        self._costs = costs
        self._limits = limits
        self._markdowns = Markdowns(to_tick_start_ms(0))
        self._intervals = {name: Interval(Counter(), Counter()) for name in PERIODS_MS}
        self._prices: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._newest_ms: dict[str, int] = {}
        self.begun = 0

    def take(self, publication: Publication) -> None:
        event, topic = publication.event, publication.topic
        if topic == PRICE_CHANGES.name:
            self._take_price(event, publication.published_ms)
        for sku, moved, sold in list_moves(topic, event):
            self._newest_ms[sku] = max(event["event_time"], self._newest_ms.get(sku, 0))
            for interval in self._intervals.values():
                interval.sold[sku] += sold
                interval.moved[sku] += moved

    def decide(self, now_ms: int) -> list[PriceSet]:
        """The price changes of the half-hour that is over."""
        for period, length_ms in PERIODS_MS.items():
            if now_ms % length_ms == 0:
                self._propose(period, now_ms)
        decisions = self._markdowns.answer(now_ms, now_ms)
        self._markdowns.moves.forget()
        self.begun += sum(decision.publish(now_ms).begins for decision in decisions)
        return [self._announce(decision, now_ms) for decision in decisions]

    def _take_price(self, event: Event, published_ms: int) -> None:
        since_ms = holds_from(event["effective_at"], published_ms)
        fields = event["event_id"], event["event_time"], event["sku"], event["price_cents"]
        self._markdowns.prices.take(PriceChange(*fields, since_ms, published_ms))
        self._note_price(event["sku"], since_ms, event["price_cents"])

    def _note_price(self, sku: str, since_ms: int, cents: int) -> None:
        self._prices[sku].append((since_ms, cents))
        self._prices[sku].sort(key=lambda price: price[0])

    def _announce(self, decision: Decision, now_ms: int) -> PriceSet:
        since_ms = holds_from(decision.effective_ms, now_ms)
        self._note_price(decision.sku, since_ms, decision.price_cents)
        return PriceSet(decision.event_id, decision.sku, decision.price_cents, since_ms)

    def _propose(self, period: str, ends_ms: int) -> None:
        """The rows of an interval that is over, of all that moved in it."""
        interval = self._intervals[period]
        hour = (ends_ms - HALF_HOUR_MS) // HOUR_MS % HOURS_PER_DAY
        share = self._limits.shares_permille[hour]
        per_day = 1.0 if period == "day" else count_half_hours_per_day(share)
        for sku, moved in interval.moved.items():
            bounds = derive_bounds(interval.sold[sku], per_day, 1, self._limits)
            cents = self._find_price(sku)
            lower = lower_price_cents(cents, self._costs[sku], self._limits)
            markdown = lower if lower < cents else None
            proposal = Proposal(*bounds, price_cents=cents, markdown_price_cents=markdown)
            if period != "day":
                self._markdowns.moves.take(ends_ms, sku, moved)
            self._markdowns.take_proposal(ends_ms, period, sku, proposal)
        self._intervals[period] = Interval(Counter(), Counter())

    def _find_price(self, sku: str) -> int:
        """The price on the list at the newest event of the product."""
        prices = self._prices[sku]
        place = bisect(prices, self._newest_ms[sku], key=lambda price: price[0])
        return prices[place - 1][1]


def list_moves(topic: str, event: Event) -> Sequence[tuple[str, int, int]]:
    """What an event says of stock: product, units that moved, units sold."""
    lines = event.get("lines", ())
    if topic == RECEIPTS.name:
        return [(line["sku"], -line["units"], line["units"]) for line in lines]
    if topic == REFUNDS.name:
        return [(line["sku"], line["units"], 0) for line in lines]
    if topic == SHIPMENTS.name:
        return [(line["sku"], line["received_units"], 0) for line in lines]
    if topic == ADJUSTMENTS.name:
        return [(event["sku"], event["units"], 0)]
    return []


def live(parameters: Parameters, days: int, limits: Thresholds | None) -> Margin:
    """The margin of a world. `limits`: of its markdowns; None: there are none."""
    world = World(parameters)
    costs = {product.sku: product.unit_cost_cents for product in world.products}
    pricing, margin = Pricing(costs, limits or Thresholds()), Margin()
    for tick in range(days * HOURS_PER_DAY * TICKS_PER_HOUR):
        now_ms = to_tick_start_ms(tick)
        is_due = limits is not None and tick and now_ms % HALF_HOUR_MS == 0
        for publication in world.tick(pricing.decide(now_ms) if is_due else ()):
            pricing.take(publication)
            margin.take(publication, costs)
        if (tick + 1) % TICKS_PER_HOUR == 0:
            margin.close_hour(world, costs)
    margin.markdowns = pricing.begun
    return margin
