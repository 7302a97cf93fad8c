"""Prices: the same in every store, announced long before they take effect; lower while promoted.

For some days a product costs less and demand for it is higher. Such a promotion is planned a week
ahead; its prices are announced together with all others.

Others may announce prices too. The last price to take effect holds, whoever announced it: so a
promotion ends another's markdown when it begins and when it ends, and a markdown may interrupt a
promotion. While another's price holds that is not the usual one, the usual one does not change.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from generators.chance import create_random
from generators.event import Event
from generators.products import ELASTICITY, Product, draw_price_cents
from generators.promotions import NOTICE_DAYS, Promotion, Promotions
from generators.ticks import (
    ANNOUNCED_MS,
    START_MS,
    to_day,
    to_day_start_ms,
    to_hour_of_day,
    to_hour_start_ms,
)

CHANGED_SHARE = 0.03  # of the products, each day
DECIDED_AT_HOUR = 10  # of the day; they take effect at the next midnight


class PriceSet(NamedTuple):
    """A price change that another than the simulator announced."""

    event_id: str
    sku: str
    cents: int
    effective_ms: int


class Setter(StrEnum):
    USUAL = "usual"
    PROMOTION = "promotion"
    OTHERS = "others"


class Change(NamedTuple):
    """An announced price before it takes effect."""

    effective_ms: int
    product: int
    cents: int
    by: Setter


class Prices:
    def __init__(self, seed: int, products: Sequence[Product], promotions: Promotions) -> None:
        self._seed = seed
        self._products = products
        self._promotions = promotions
        self._place = {product.sku: number for number, product in enumerate(products)}
        self._usual_cents = [product.unit_price_cents for product in products]
        self._ahead: list[Change] = []
        self._by_others: set[int] = set()  # products whose price somebody else set
        self.cents = [product.unit_price_cents for product in products]

    def introduce(self) -> list[Event]:
        """The events of the world's first prices."""
        return [
            _build_change(f"{product.sku}-priced", ANNOUNCED_MS, product.sku, cents, START_MS)
            for product, cents in zip(self._products, self.cents, strict=True)
        ]

    def decide(self, hour: int) -> list[Event]:
        """Decide tomorrow's prices. Returns the events to announce in the world's n-th hour."""
        if to_hour_of_day(hour) != DECIDED_AT_HOUR:
            return []
        now_ms = to_hour_start_ms(hour)
        effective_ms = to_day_start_ms(to_day(hour) + 1)
        events = []
        for number, (cents, by) in self._draw_tomorrow(to_day(hour)).items():
            self._ahead.append(Change(effective_ms, number, cents, by))
            sku = self._products[number].sku
            event_id = f"{sku}-price-{to_day(hour)}"
            events.append(_build_change(event_id, now_ms, sku, cents, effective_ms))
        return events

    def hear(self, price: PriceSet) -> None:
        """Apply another's price when it takes effect; one of an unknown product is ignored."""
        number = self._place.get(price.sku)
        if number is not None:
            self._ahead.append(Change(price.effective_ms, number, price.cents, Setter.OTHERS))

    def introduce_plans(self) -> list[Event]:
        """The events of the promotions that are planned when the world begins."""
        return self._plan(self._promotions.list_planned(0), ANNOUNCED_MS, START_MS)

    def plan(self, hour: int) -> list[Event]:
        """The events of the promotions that are announced in the world's n-th hour."""
        if to_hour_of_day(hour) != DECIDED_AT_HOUR:
            return []
        tomorrow = to_day(hour) + 1
        now_ms, effective_ms = to_hour_start_ms(hour), to_day_start_ms(tomorrow)
        beginning = self._promotions.list_beginning(tomorrow + NOTICE_DAYS)
        return self._plan(beginning, now_ms, effective_ms)

    def _plan(
        self, promotions: Mapping[int, Promotion], at_ms: int, effective_ms: int
    ) -> list[Event]:
        return [
            {
                "event_id": f"{self._products[number].sku}-promotion-{promotion.begins}",
                "event_time": at_ms,
                "sku": self._products[number].sku,
                "starts_at": to_day_start_ms(promotion.begins),
                "ends_at": to_day_start_ms(promotion.ends),
                "usual_price_cents": self._usual_cents[number],
                "price_cents": promotion.compute_price_cents(self._usual_cents[number]),
                "effective_at": effective_ms,
            }
            for number, promotion in promotions.items()
        ]

    def _draw_tomorrow(self, today: int) -> dict[int, tuple[int, Setter]]:
        """Tomorrow's new prices in cents, by product: promotions begin or end, some prices change.

        A product's usual price stays from a promotion's plan to its end: the plan states it. It
        stays during another's markdown, too.
        """
        draw = create_random(self._seed, "prices", today)
        promoted = self._promotions.list_running(today)
        still = self._promotions.list_running(today + 1)
        planned = self._promotions.list_planned(today + 1)
        changed = {}
        for number, product in enumerate(self._products):
            anew = draw.random() < CHANGED_SHARE
            usual_cents = self._usual_cents[number]
            if number in still and number not in promoted:
                changed[number] = still[number].compute_price_cents(usual_cents), Setter.PROMOTION
            elif number in promoted and number not in still:
                changed[number] = usual_cents, Setter.USUAL
            elif anew and number not in still and number not in planned:
                cents = draw_price_cents(product.unit_cost_cents, draw)
                if not self._is_marked_down(number):
                    changed[number] = cents, Setter.USUAL
        return changed

    def _is_marked_down(self, number: int) -> bool:
        """Whether another's price holds that is not the usual one."""
        return number in self._by_others and self.cents[number] != self._usual_cents[number]

    def take_effect(self, now_ms: int) -> bool:
        """Apply the prices that hold by now. Returns whether any changed."""
        due = [change for change in self._ahead if change.effective_ms <= now_ms]
        if not due:
            return False
        self._ahead = [change for change in self._ahead if change.effective_ms > now_ms]
        for _, number, cents, by in sorted(due, key=lambda change: change.effective_ms):
            self.cents[number] = cents
            if by is Setter.USUAL:
                self._usual_cents[number] = cents
            if by is Setter.OTHERS:
                self._by_others.add(number)
            else:
                self._by_others.discard(number)
        return True

    def list_lifts(self, day: int) -> dict[int, int]:
        """Demand for the products whose price is not what was planned, in percent of the planned
        one, on the world's n-th day.

        Planned are the usual price and its demand, or a promotion's. At any other price demand
        differs from the usual one by the elasticity of the product's category.
        """
        running = self._promotions.list_running(day)
        lifts = {}
        for number, (cents, usual_cents) in enumerate(
            zip(self.cents, self._usual_cents, strict=True)
        ):
            promotion = running.get(number)
            planned = promotion.compute_price_cents(usual_cents) if promotion else usual_cents
            if cents != planned:
                elasticity = ELASTICITY[self._products[number].category]
                percent = 100 + elasticity * (usual_cents - cents) * 100 // usual_cents
                lift_percent = promotion.lift_percent if promotion else 100
                lifts[number] = max(0, percent) * 100 // lift_percent
        return lifts


def _build_change(event_id: str, at_ms: int, sku: str, cents: int, effective_ms: int) -> Event:
    return {
        "event_id": event_id,
        "event_time": at_ms,
        "sku": sku,
        "price_cents": cents,
        "effective_at": effective_ms,
    }
