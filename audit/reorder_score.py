"""What a way to order costs: one simulated world, lived by vans, by the policy, by the best levels.

What nothing can beat is computed beside them (audit/reorder_bound.py).

All of it is the real thing but the log: the world, the policy, the gate's decision, the supplier.
The best levels are found shelf by shelf in hindsight, by SciPy's differential evolution, on the
demand that the world turned out to have, and its deliveries: what an order would have brought, and
when, is a function of its shelf and its review.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from scipy.optimize import differential_evolution

from audit.reorder_bound import Terms, by_arrival, least_cents
from contracts import ADJUSTMENTS, PROMOTIONS, RECEIPTS, REFUNDS, SHIPMENTS
from generators.event import Event
from generators.numbering import Publication
from generators.parameters import Parameters
from generators.products import Product
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, TICKS_PER_HOUR, hour_start_ms, tick_start_ms
from generators.world import World
from pipelines.reorder.policy import (
    DAYS,
    NO_PLAN,
    Levels,
    Plan,
    Policy,
    levels,
    lift_permille,
    usual_milli,
)
from services.ordering.decision import Limits, Order, Proposal, Shelf, decide
from services.supplier.shipment import Reliability, create_confirmation

DAY_MS = 24 * HOUR_MS
HOURS_PER_DAY = 24
FIRST_REVIEW_HOUR = 16
"""The world begins at eight in the morning."""
ROUNDS_MAX, POPULATION = 20, 8
POLICY = "the policy"
MANY_PACKS = 1_000_000
"""An order that tells which share of any order is delivered."""


class Sale(NamedTuple):
    at_ms: int
    units: int


class Review(NamedTuple):
    """The facts about a shelf that are known at a midnight."""

    at_ms: int
    shelf: Shelf
    product: Product
    sold: Sequence[Sequence[Sale]]
    """On each day so far, the last one last."""
    plans: Sequence[Event]
    """The promotions of its product, those announced last at the end."""
    told_ms: int
    """When the newest event happened that moved it."""


Propose = Callable[[Review], Levels]


@dataclass(frozen=True)
class Costs:
    """The figures of the comparison. A lost sale costs the unit's margin."""

    order_cents: int = Policy.order_cents
    holding_per_day: float = Policy.holding_per_day  # of a unit's cost


class Delivery(NamedTuple):
    """The delivery of an order."""

    arrives_hour: int
    share: float
    """Of the packs that are ordered; only whole ones come."""


@dataclass(frozen=True)
class Score:
    sold_units: int
    missed_units: int
    stock_units: float
    """The mean of all shelves together."""
    orders: int
    holding_cents: float
    ordering_cents: float
    lost_cents: float

    @property
    def fill_rate(self) -> float:
        return self.sold_units / max(1, self.sold_units + self.missed_units)

    @property
    def cost_cents(self) -> float:
        return self.holding_cents + self.ordering_cents + self.lost_cents


class Life:
    """A world simulated to its end."""

    def __init__(self, parameters: Parameters, days: int, propose: Propose | None = None) -> None:
        """Propose: None where vans refill the world."""
        self.world = World(parameters)
        self.products = {one.sku: one for one in self.world.products}
        self.demand: dict[Shelf, list[int]] = defaultdict(list)
        """Units wanted, by hour."""
        self.moved: dict[Shelf, list[int]] = defaultdict(list)
        """Units that came or went besides sales and deliveries, by hour."""
        self.opening: Mapping[Shelf, int] = {}
        self._propose = propose
        self._seed = parameters.seed
        self._proposals: list[Proposal] = []
        self._ordered: list[Order] = []
        self._sold: dict[Shelf, list[list[Sale]]] = defaultdict(lambda: [[]])  # by day
        self._plans: dict[str, list[Event]] = defaultdict(list)  # by sku
        self._told_ms: dict[Shelf, int] = {}
        self._moved: Counter[Shelf] = Counter()  # since the last review
        self._sold_hour: Counter[Shelf] = Counter()
        self._moved_hour: Counter[Shelf] = Counter()
        self._missed: Mapping[Shelf, int] = {}
        self._unit_hours: Counter[Shelf] = Counter()
        self._deliveries = 0
        self._hours = days * HOURS_PER_DAY
        for hour in range(self._hours):
            self._hour(hour)

    def deliveries(self, shelf: Shelf) -> Mapping[int, Delivery]:
        """What an order of the shelf would bring, by the hour of its review.

        The goods are there from the first whole hour after they arrive.
        """
        return {
            hour: Delivery(hour - (-took_ms // HOUR_MS), share)
            for hour, took_ms, share in self._possible(shelf)
        }

    def earliest_deliveries(self, shelf: Shelf) -> list[Delivery]:
        """The same, but the goods are there for all of the hour in which they arrive."""
        return [
            Delivery(hour + took_ms // HOUR_MS, share)
            for hour, took_ms, share in self._possible(shelf)
        ]

    def _possible(self, shelf: Shelf) -> Iterator[tuple[int, int, float]]:
        """Of an order at each review: its hour, how long it takes, and the share that comes."""
        lead = self.products[shelf.sku].lead_time_days
        for hour in range(FIRST_REVIEW_HOUR, self._hours, HOURS_PER_DAY):
            review_ms = hour_start_ms(hour)
            answer = confirm_order(
                Order(shelf, review_ms, MANY_PACKS, 1, lead), review_ms, self._seed
            )
            yield hour, answer.arrives_ms - review_ms, answer.shipped_units / MANY_PACKS

    def score(self, costs: Costs) -> Score:
        held = sum(
            hours * self.products[shelf.sku].unit_cost_cents
            for shelf, hours in self._unit_hours.items()
        )
        lost = sum(
            units * margin_cents(self.products[shelf.sku]) for shelf, units in self._missed.items()
        )
        orders = self._deliveries if self._propose is None else len(self._ordered)
        missed = sum(self._missed.values())
        return Score(
            sold_units=sum(map(sum, self.demand.values())) - missed,
            missed_units=missed,
            stock_units=sum(self._unit_hours.values()) / self._hours,
            orders=orders,
            holding_cents=held / HOURS_PER_DAY * costs.holding_per_day,
            ordering_cents=float(orders * costs.order_cents),
            lost_cents=float(lost),
        )

    def _hour(self, hour: int) -> None:
        for tick in range(hour * TICKS_PER_HOUR, (hour + 1) * TICKS_PER_HOUR):
            now_ms = tick_start_ms(tick)
            confirmed = self._review(now_ms) if now_ms % DAY_MS == 0 else ()
            for one in self.world.tick(confirmed):
                self._take(one)
            if tick == 0:
                there = self._of_shelves(self.world.units)
                self.opening = {shelf: there[shelf] + self._sold_hour[shelf] for shelf in there}
                self._moved_hour.clear()
        self._unit_hours.update(self._of_shelves(self.world.units))
        missed = self._of_shelves(self.world.count_missed)
        for shelf, units in missed.items():
            wanted = self._sold_hour[shelf] + units - self._missed.get(shelf, 0)
            self.demand[shelf].append(wanted)
            self.moved[shelf].append(self._moved_hour[shelf])
        self._missed = missed
        self._sold_hour.clear()
        self._moved_hour.clear()

    def _take(self, one: Publication) -> None:
        event, lines = one.event, one.event.get("lines", ())
        if one.topic == PROMOTIONS.name:
            self._plans[event["sku"]].append(event)
        if one.topic == ADJUSTMENTS.name:
            shelf = Shelf(event["store_id"], event["sku"])
            self._moved[shelf] += event["units"]
            self._moved_hour[shelf] += event["units"]
            self._told_ms[shelf] = event["event_time"]
        for line in lines:
            shelf = Shelf(event["store_id"], line["sku"])
            self._told_ms[shelf] = event["event_time"]
            if one.topic == RECEIPTS.name:
                self._sold[shelf][-1].append(Sale(event["event_time"], line["units"]))
                self._sold_hour[shelf] += line["units"]
                self._moved[shelf] -= line["units"]
            elif one.topic == REFUNDS.name:
                self._moved[shelf] += line["units"]
                self._moved_hour[shelf] += line["units"]
            elif one.topic == SHIPMENTS.name and event["status"] == "received":
                self._moved[shelf] += line["received_units"] - line["dispatched_units"]
                self._deliveries += 1

    def _review(self, now_ms: int) -> list[Confirmed]:
        if self._propose is None:
            return []
        for shelf in self.opening:
            product, plans = self.products[shelf.sku], self._plans[shelf.sku]
            sold, told_ms = self._sold[shelf], self._told_ms[shelf]
            wanted = self._propose(Review(now_ms, shelf, product, sold, plans, told_ms))
            sold.append([])
            pack, lead = product.pack_size_units, product.lead_time_days
            self._proposals.append(Proposal(shelf, now_ms, self._moved[shelf], *wanted, pack, lead))
        self._moved.clear()
        before = [(one.shelf, one.review_ms, one.units) for one in self._ordered]
        orders = decide(now_ms, self._proposals, before, Limits())
        self._ordered += orders
        return [confirm_order(one, now_ms, self._seed) for one in orders]

    def _of_shelves(self, units: Callable[[str], Mapping[str, int]]) -> dict[Shelf, int]:
        return {
            Shelf(store_id, sku): count
            for store_id in self.world.store_ids
            for sku, count in units(store_id).items()
        }


def confirm_order(order: Order, now_ms: int, seed: int) -> Confirmed:
    """What the supplier answers."""
    answer = create_confirmation(
        {
            "purchase_order_id": order.order_id,
            "ordered_at": datetime.fromtimestamp(now_ms / 1000, UTC),
            "store_id": order.shelf.store_id,
            "sku": order.shelf.sku,
            "units": order.units,
            "pack_size_units": order.pack_size_units,
            "lead_time_days": order.lead_time_days,
        },
        seed,
        Reliability(),
    )
    leaves_ms, comes_ms = (
        round(answer[at].timestamp() * 1000) for at in ("dispatches_at", "arrives_at")
    )
    units = answer["ordered_units"], answer["shipped_units"]
    return Confirmed(order.order_id, *order.shelf, *units, leaves_ms, comes_ms)


def by_policy(policy: Policy) -> Propose:
    def propose(review: Review) -> Levels:
        week = [
            sum(usual_milli(sale.units, lift_at(review.plans, sale.at_ms, policy)) for sale in day)
            for day in reversed(review.sold[-DAYS:])
        ]
        return levels(
            [*week, *[0] * (DAYS - len(week))],
            len(week),
            review.product.lead_time_days,
            review.product.pack_size_units,
            review.product.unit_cost_cents,
            find_plan(review, policy),
            policy,
        )

    return propose


def lift_at(plans: Sequence[Event], at_ms: int, policy: Policy) -> int:
    """Of what was sold then, by the plan that was known then."""
    plan = find_newest_plan(plans, at_ms)
    if plan is None or not plan["starts_at"] <= at_ms < plan["ends_at"]:
        return 1_000
    return lift(plan, policy)


def find_plan(review: Review, policy: Policy) -> Plan:
    """What a review knows of a promotion: what the newest event knew."""
    plan = find_newest_plan(review.plans, review.told_ms)
    if plan is None:
        return NO_PLAN
    begins, ends = ((plan[edge] - review.at_ms) / DAY_MS for edge in ("starts_at", "ends_at"))
    return Plan(lift(plan, policy), begins, ends)


def find_newest_plan(plans: Sequence[Event], at_ms: int) -> Event | None:
    return next((one for one in reversed(plans) if one["effective_at"] <= at_ms), None)


def lift(plan: Event, policy: Policy) -> int:
    return int(lift_permille(plan["usual_price_cents"], plan["price_cents"], policy))


def by_table(best: Mapping[Shelf, Levels]) -> Propose:
    return lambda review: best[review.shelf]


def best_levels(life: Life, costs: Costs) -> dict[Shelf, Levels]:
    """Of each shelf, the levels that would have been cheapest on this life's demand."""
    return {
        shelf: best(
            demand,
            life.opening[shelf],
            life.products[shelf.sku],
            life.deliveries(shelf),
            costs,
        )
        for shelf, demand in sorted(life.demand.items())
    }


def best(
    demand: Sequence[int],
    opening: int,
    product: Product,
    deliveries: Mapping[int, Delivery],
    costs: Costs,
) -> Levels:
    most = max(2, sum(demand) * HOURS_PER_DAY * (product.lead_time_days + 3) // len(demand))
    found = differential_evolution(
        lambda tried: cost(demand, opening, product, deliveries, costs, tried[0], tried[1]),
        [(0, most), (1, most)],
        integrality=[True, True],
        popsize=POPULATION,
        maxiter=ROUNDS_MAX,
        updating="deferred",
        vectorized=True,
        polish=False,
        rng=0,
    )
    point, lot = (int(one) for one in found.x)
    return Levels(point, point + lot)


def cost(
    demand: Sequence[int],
    opening: int,
    product: Product,
    deliveries: Mapping[int, Delivery],
    costs: Costs,
    point: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    lot: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """What each of the levels tried would have cost; deliveries: by the hour of the review."""
    pack = product.pack_size_units
    last = max((one.arrives_hour for one in deliveries.values()), default=0)
    stock = np.full_like(point, opening)
    on_order, total = np.zeros_like(point), np.zeros_like(point)
    coming, closing = (np.zeros((max(last, len(demand)) + 1, point.size)) for _ in range(2))
    per_hour = product.unit_cost_cents * costs.holding_per_day / HOURS_PER_DAY
    for hour, wanted in enumerate(demand):
        stock += coming[hour]
        on_order -= closing[hour]
        if hour in deliveries:
            delivery = deliveries[hour]
            position = stock + on_order
            packs = np.maximum(1, np.ceil((point + lot - position) / pack))
            ordered = np.where(position <= point, packs * pack, 0)
            coming[delivery.arrives_hour] += np.floor(ordered // pack * delivery.share) * pack
            closing[delivery.arrives_hour] += ordered
            on_order += ordered
            total += np.where(ordered > 0, costs.order_cents, 0)
        sold = np.minimum(stock, wanted)
        stock -= sold
        total += (wanted - sold) * margin_cents(product) + stock * per_hour
    return total


def bound_cents(life: Life, costs: Costs) -> float:
    """The cost of the cheapest orders in this life: see audit/reorder_bound.py."""
    return sum(
        least_cents(
            life.opening[shelf],
            wanted,
            life.moved[shelf],
            by_arrival(life.earliest_deliveries(shelf)),
            terms(life.products[shelf.sku], costs),
        )
        for shelf, wanted in life.demand.items()
    )


def terms(product: Product, costs: Costs) -> Terms:
    return Terms(
        pack_size_units=product.pack_size_units,
        order_cents=costs.order_cents,
        lost_cents=margin_cents(product),
        holding_cents=product.unit_cost_cents * costs.holding_per_day / HOURS_PER_DAY,
    )


def margin_cents(product: Product) -> int:
    return product.unit_price_cents - product.unit_cost_cents


@dataclass(frozen=True)
class Comparison:
    """The ways to order in one world, and what none of them can beat."""

    ways: Mapping[str, Score]
    bound_cents: float

    @property
    def policy(self) -> Score:
        return self.ways[POLICY]

    @property
    def of_bound(self) -> float:
        """The cost of the policy, as a share of the bound."""
        return self.policy.cost_cents / self.bound_cents


def compare(world: Parameters, days: int, costs: Costs) -> Comparison:
    """Simulate one world by vans, by the policy, by the best levels; the bound is the policy's."""
    by_orders = replace(world, refill="orders")
    vans = Life(replace(world, refill="vans"), days)
    policy = Life(by_orders, days, by_policy(Policy()))
    hindsight = Life(by_orders, days, by_table(best_levels(policy, costs)))
    lives = {"vans": vans, POLICY: policy, "best (s, S)": hindsight}
    ways = {name: life.score(costs) for name, life in lives.items()}
    return Comparison(ways, bound_cents(policy, costs))
