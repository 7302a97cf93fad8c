"""The costs of ways to order in one simulated world: the policy at every change of a position or at
reviews only, and a bound that no way can beat (ops/verify/reorder_bound.py).

The world, the gate's decision and the supplier are the real code; only the log is missing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from contracts import ADJUSTMENTS, PROMOTIONS, RECEIPTS, REFUNDS, SHIPMENTS
from contracts.times import EPOCH, MILLISECOND
from generators.event import Event, Publication
from generators.parameters import Parameters
from generators.products import HOURS_PER_DAY, Product
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, TICKS_PER_HOUR, to_hour_start_ms, to_tick_start_ms
from generators.world import World
from ops.verify.reorder_bound import Terms, compute_least_cents
from pipelines.reorder.policy import (
    DAYS,
    NO_PLAN,
    PARTS,
    Levels,
    Plan,
    Policy,
    Sold,
    derive_first_levels,
    derive_levels,
    estimate_usual_milli,
    find_weekday,
    forecast_demand,
    lift_permille,
)
from services.ordering.decision import Level, Order, Positions, Shelf
from services.supplier import Reliability, create_confirmation

DAY_MS = 24 * HOUR_MS
REACTING, NIGHTLY = "at every change", "at reviews only"
ORDER_CENTS, HOLDING_PER_DAY = Policy.order_cents, Policy.holding_per_day
"""What an order costs, and what a unit on a shelf costs for a day, as a share of its own cost. A
lost sale costs the unit's margin."""
MANY_PACKS = 1_000_000
"""The packs of a test order, which shows the share of any order that is delivered."""


class Sale(NamedTuple):
    at_ms: int
    units: int


class Review(NamedTuple):
    """The known facts about a shelf at a midnight."""

    at_ms: int
    product: Product
    sold: Sequence[Sequence[Sale]]
    """The sales of each day so far, the newest day last."""
    plans: Sequence[Event]
    """The promotions of its product, the newest announcement last."""
    told_ms: int
    """The time of the newest event of its stock."""


Propose = Callable[[Review], Levels]


@dataclass(frozen=True)
class Score:
    sold_units: int
    missed_units: int
    stock_units: float
    """The mean stock of all shelves together."""
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

    def __init__(
        self,
        parameters: Parameters,
        days: int,
        propose: Propose,
        policy: Policy = Policy(),  # noqa: B008  it has no state
    ) -> None:
        """`propose`: the levels at reviews. `policy`: how often the position is looked at, and the
        levels before the first review.
        """
        self.world = World(replace(parameters, refill="orders"))
        self.products = {product.sku: product for product in self.world.products}
        self.demand: dict[Shelf, list[int]] = defaultdict(list)
        """Units wanted, by hour."""
        self.moved: dict[Shelf, list[int]] = defaultdict(list)
        """Units that came or went besides sales and deliveries, by hour."""
        self.opening: Mapping[Shelf, int] = {}
        self._propose = propose
        self._policy = policy
        self._seed = parameters.seed
        self._positions = Positions(to_tick_start_ms(0))
        self.ordered: list[Order] = []
        self._sold: dict[Shelf, list[list[Sale]]] = defaultdict(lambda: [[]])  # by day
        self._plans: dict[str, list[Event]] = defaultdict(list)  # by sku
        self._told_ms: dict[Shelf, int] = {}
        self._moved: Counter[Shelf] = Counter()  # in this minute
        self._sold_hour: Counter[Shelf] = Counter()
        self._moved_hour: Counter[Shelf] = Counter()
        self._missed: Mapping[Shelf, int] = {}
        self._unit_hours: Counter[Shelf] = Counter()
        self._hours = days * HOURS_PER_DAY
        for hour in range(self._hours):
            self._live_hour(hour)

    def list_deliveries(self, shelf: Shelf) -> Mapping[int, Sequence[float]]:
        """For an order at each hour: by the hour of its arrival, the share that is delivered.

        The goods serve the whole hour of their arrival.
        """
        level = create_level(self.products[shelf.sku], 0, Levels(0, 1), review_days=0)
        deliveries: dict[int, list[float]] = defaultdict(list)
        for hour in range(self._hours):
            moment_ms = to_hour_start_ms(hour)
            order = Order(shelf, moment_ms, MANY_PACKS, replace(level, pack_size_units=1))
            answer = confirm_order(order, moment_ms, self._seed)
            arrives_hour = hour + (answer.arrives_ms - moment_ms) // HOUR_MS
            deliveries[arrives_hour].append(answer.shipped_units / MANY_PACKS)
        return deliveries

    def compute_bound_cents(self) -> float:
        """The cost of the cheapest orders in this life."""
        return sum(
            compute_least_cents(
                self.opening[shelf],
                wanted,
                self.moved[shelf],
                self.list_deliveries(shelf),
                create_terms(self.products[shelf.sku]),
            )
            for shelf, wanted in self.demand.items()
        )

    def score(self) -> Score:
        holding = sum(
            hours * self.products[shelf.sku].unit_cost_cents
            for shelf, hours in self._unit_hours.items()
        )
        lost = sum(
            units * compute_margin_cents(self.products[shelf.sku])
            for shelf, units in self._missed.items()
        )
        missed = sum(self._missed.values())
        return Score(
            sold_units=sum(map(sum, self.demand.values())) - missed,
            missed_units=missed,
            stock_units=sum(self._unit_hours.values()) / self._hours,
            orders=len(self.ordered),
            holding_cents=holding / HOURS_PER_DAY * HOLDING_PER_DAY,
            ordering_cents=float(len(self.ordered) * ORDER_CENTS),
            lost_cents=float(lost),
        )

    def _live_hour(self, hour: int) -> None:
        for tick in range(hour * TICKS_PER_HOUR, (hour + 1) * TICKS_PER_HOUR):
            for publication in self.world.tick(self._order(to_tick_start_ms(tick))):
                self._take(publication)
            if tick == 0:
                there = self._count_by_shelf(self.world.count_units)
                self.opening = {shelf: there[shelf] + self._sold_hour[shelf] for shelf in there}
                self._moved_hour.clear()
        self._unit_hours.update(self._count_by_shelf(self.world.count_units))
        missed = self._count_by_shelf(self.world.count_missed)
        for shelf, units in missed.items():
            wanted = self._sold_hour[shelf] + units - self._missed.get(shelf, 0)
            self.demand[shelf].append(wanted)
            self.moved[shelf].append(self._moved_hour[shelf])
        self._missed = missed
        self._sold_hour.clear()
        self._moved_hour.clear()

    def _take(self, publication: Publication) -> None:
        event, lines = publication.event, publication.event.get("lines", ())
        if publication.topic == PROMOTIONS.name:
            self._plans[event["sku"]].append(event)
        if publication.topic == ADJUSTMENTS.name:
            shelf = Shelf(event["store_id"], event["sku"])
            self._moved[shelf] += event["units"]
            self._moved_hour[shelf] += event["units"]
            self._told_ms[shelf] = event["event_time"]
        for line in lines:
            shelf = Shelf(event["store_id"], line["sku"])
            self._told_ms[shelf] = event["event_time"]
            if publication.topic == RECEIPTS.name:
                self._sold[shelf][-1].append(Sale(event["event_time"], line["units"]))
                self._sold_hour[shelf] += line["units"]
                self._moved[shelf] -= line["units"]
            elif publication.topic == REFUNDS.name:
                self._moved[shelf] += line["units"]
                self._moved_hour[shelf] += line["units"]
            elif publication.topic == SHIPMENTS.name and event["status"] == "dispatched":
                self._moved[shelf] += line["dispatched_units"] - line.get(
                    "ordered_units", line["dispatched_units"]
                )
            elif publication.topic == SHIPMENTS.name:
                self._moved[shelf] += line["received_units"] - line["dispatched_units"]

    def _order(self, now_ms: int) -> list[Confirmed]:
        """The confirmed orders of the minute that is over."""
        for shelf, units in self._moved.items():
            self._positions.take_change(shelf, now_ms, units, self._find_opening(shelf, now_ms))
        self._moved.clear()
        if now_ms % DAY_MS == 0:
            self._review(now_ms)
        orders = self._positions.answer(now_ms)
        self._positions.moves.forget()
        self.ordered += orders
        return [confirm_order(order, now_ms, self._seed) for order in orders]

    def _find_opening(self, shelf: Shelf, now_ms: int) -> Level | None:
        """The first levels of a shelf, after its first minute."""
        if self._policy.review_days or now_ms > to_tick_start_ms(1):
            return None
        product = self.products[shelf.sku]
        lead_days = product.lead_time_hours / HOURS_PER_DAY
        levels = derive_first_levels(self.opening[shelf], lead_days, self._policy)
        return create_level(product, now_ms, levels, review_days=0)

    def _review(self, now_ms: int) -> None:
        for shelf in self.opening:
            product, plans = self.products[shelf.sku], self._plans[shelf.sku]
            sold, told_ms = self._sold[shelf], self._told_ms[shelf]
            levels = self._propose(Review(now_ms, product, sold, plans, told_ms))
            sold.append([])
            level = create_level(product, now_ms, levels, self._policy.review_days)
            self._positions.take_review(shelf, 0, level)

    def _count_by_shelf(self, units: Callable[[str], Mapping[str, int]]) -> dict[Shelf, int]:
        return {
            Shelf(store_id, sku): count
            for store_id in self.world.store_ids
            for sku, count in units(store_id).items()
        }


def confirm_order(order: Order, now_ms: int, seed: int) -> Confirmed:
    answer = create_confirmation(
        {
            "purchase_order_id": order.order_id,
            "ordered_at": EPOCH + now_ms * MILLISECOND,
            "store_id": order.shelf.store_id,
            "sku": order.shelf.sku,
            "units": order.units,
            "pack_size_units": order.level.pack_size_units,
            "lead_time_days": order.level.lead_time_days,
            "lead_time_hours": order.level.lead_time_hours,
        },
        seed,
        Reliability(),
    )
    leaves_ms, comes_ms = (
        round(answer[field].timestamp() * 1000) for field in ("dispatches_at", "arrives_at")
    )
    units = answer["ordered_units"], answer["shipped_units"]
    return Confirmed(order.order_id, *order.shelf, *units, leaves_ms, comes_ms)


def create_level(product: Product, since_ms: int, levels: Levels, review_days: int) -> Level:
    days, hours = divmod(product.lead_time_hours, HOURS_PER_DAY)
    return Level(
        since_ms,
        levels.reorder_point_units,
        levels.order_up_to_units,
        product.pack_size_units,
        days,
        hours,
        review_days=review_days,
        points=tuple(levels.points),
    )


def compute_margin_cents(product: Product) -> int:
    """The margin of a unit. The simulated world sells by the piece: no price is for a measure."""
    return product.unit_price_cents - product.unit_cost_cents


def create_terms(product: Product) -> Terms:
    return Terms(
        pack_size_units=product.pack_size_units,
        order_cents=ORDER_CENTS,
        lost_cents=compute_margin_cents(product),
        holding_cents=product.unit_cost_cents * HOLDING_PER_DAY / HOURS_PER_DAY,
    )


def propose_by_policy(policy: Policy) -> Propose:
    def propose(review: Review) -> Levels:
        sold = count_sold(review, policy)
        forecast = forecast_demand(sold, policy)
        return derive_levels(
            forecast,
            review.product.lead_time_hours / HOURS_PER_DAY,
            review.product.pack_size_units,
            review.product.unit_cost_cents,
            find_plan(review, policy),
            policy,
        )

    return propose


def count_sold(review: Review, policy: Policy) -> Sold:
    """What was sold in the week before the review."""
    week = review.sold[: -DAYS - 1 : -1]
    daily, parts = [0] * DAYS, [0] * PARTS
    for ago, day in enumerate(week):
        for sale in day:
            lift = lift_at(review.plans, sale.at_ms, policy)
            usual_milli = estimate_usual_milli(sale.units, lift)
            daily[ago] += usual_milli
            parts[sale.at_ms % DAY_MS * PARTS // DAY_MS] += usual_milli
    return Sold(daily, parts, len(week), find_weekday(review.at_ms // DAY_MS))


def lift_at(plans: Sequence[Event], at_ms: int, policy: Policy) -> int:
    """The lift of sales at a time, in permille, by the plan known then."""
    plan = find_newest_plan(plans, at_ms)
    if plan is None or not plan["starts_at"] <= at_ms < plan["ends_at"]:
        return 1_000
    return lift(plan, policy)


def find_plan(review: Review, policy: Policy) -> Plan:
    """The promotion that a review knows: the one known at its shelf's newest event."""
    plan = find_newest_plan(review.plans, review.told_ms)
    if plan is None:
        return NO_PLAN
    begins, ends = ((plan[edge] - review.at_ms) / DAY_MS for edge in ("starts_at", "ends_at"))
    return Plan(lift(plan, policy), begins, ends)


def find_newest_plan(plans: Sequence[Event], at_ms: int) -> Event | None:
    return next((plan for plan in reversed(plans) if plan["effective_at"] <= at_ms), None)


def lift(plan: Event, policy: Policy) -> int:
    return int(lift_permille(plan["usual_price_cents"], plan["price_cents"], policy))


@dataclass(frozen=True)
class Comparison:
    """The scores of the ways to order in one world, and a lower bound of their costs."""

    ways: Mapping[str, Score]
    bound_cents: float

    @property
    def policy(self) -> Score:
        return self.ways[REACTING]

    @property
    def of_bound(self) -> float:
        """The cost of the policy, as a share of the bound."""
        return self.policy.cost_cents / self.bound_cents


def compare(world: Parameters, days: int) -> Comparison:
    """Simulate one world with the policy in both ways; the bound is that of the reacting one."""
    lives = {
        name: Life(world, days, propose_by_policy(policy), policy)
        for name, policy in ((REACTING, Policy()), (NIGHTLY, Policy(review_days=1)))
    }
    ways = {name: life.score() for name, life in lives.items()}
    return Comparison(ways, lives[REACTING].compute_bound_cents())
