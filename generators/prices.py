"""Prices: the same in every store, announced long before they take effect; lower while promoted.

For some days a product costs less and demand for it is higher. Such a promotion is planned a week
ahead; its prices are announced together with all others.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generators.chance import create_random
from generators.event import Event
from generators.products import Product, draw_price_cents
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

EVERY_DAYS = 14  # a product's promotions may begin on one day of each fortnight
STARTED_SHARE = 0.2  # of the products whose day it is
DAYS_MIN = 2
DAYS_MAX = 5
NOTICE_DAYS = 6  # from plan to beginning: too few for two plans of a product at once
CUT_PERCENT_MIN = 15
CUT_PERCENT_MAX = 40
LIFT_PER_CUT_PERCENT = 6  # percent: half the price brings four times the buyers


class Promotion(NamedTuple):
    begins: int  # the world's n-th day
    days: int
    cut_percent: int

    @property
    def ends(self) -> int:
        """The first day after it."""
        return self.begins + self.days

    def compute_price_cents(self, usual_cents: int) -> int:
        return max(1, usual_cents * (100 - self.cut_percent) // 100)

    @property
    def lift_percent(self) -> int:
        """Demand for the product, in percent of the usual demand."""
        return 100 + LIFT_PER_CUT_PERCENT * self.cut_percent


class Promotions:
    """Promotions, drawn for each day independently of all other days."""

    def __init__(self, seed: int, products: int) -> None:
        self._seed = seed
        self._products = products

    def list_running(self, day: int) -> Mapping[int, Promotion]:
        """The promotions that run on the world's n-th day, by product; none on its first."""
        return {
            product: promotion
            for begins in range(day - DAYS_MAX + 1, day + 1)
            for product, promotion in self.list_beginning(begins).items()
            if day < promotion.ends
        }

    def list_planned(self, day: int) -> Mapping[int, Promotion]:
        """The future promotions that are planned by the world's n-th day, by product."""
        return {
            product: promotion
            for begins in range(day + 1, day + NOTICE_DAYS + 1)
            for product, promotion in self.list_beginning(begins).items()
        }

    def list_beginning(self, day: int) -> Mapping[int, Promotion]:
        """The promotions that begin on the world's n-th day, by product."""
        if day < 1:
            return {}
        draw = create_random(self._seed, "promotions", day)
        return {
            product: Promotion(
                begins=day,
                days=DAYS_MIN + int(draw.random() * (DAYS_MAX - DAYS_MIN + 1)),
                cut_percent=CUT_PERCENT_MIN
                + int(draw.random() * (CUT_PERCENT_MAX - CUT_PERCENT_MIN + 1)),
            )
            for product in range(day % EVERY_DAYS, self._products, EVERY_DAYS)
            if draw.random() < STARTED_SHARE
        }


class Change(NamedTuple):
    """An announced price before it takes effect."""

    effective_ms: int
    product: int
    cents: int


class Prices:
    def __init__(self, seed: int, products: Sequence[Product], promotions: Promotions) -> None:
        self._seed = seed
        self._products = products
        self._promotions = promotions
        self._usual_cents = [product.unit_price_cents for product in products]
        self._ahead: list[Change] = []
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
        for number, cents in self._draw_tomorrow(to_day(hour)).items():
            self._ahead.append(Change(effective_ms, number, cents))
            sku = self._products[number].sku
            event_id = f"{sku}-price-{to_day(hour)}"
            events.append(_build_change(event_id, now_ms, sku, cents, effective_ms))
        return events

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

    def _draw_tomorrow(self, today: int) -> dict[int, int]:
        """Tomorrow's new prices in cents, by product: promotions begin or end, some prices change.

        A product's usual price stays from a promotion's plan to its end: the plan states it.
        """
        draw = create_random(self._seed, "prices", today)
        promoted = self._promotions.list_running(today)
        still = self._promotions.list_running(today + 1)
        planned = self._promotions.list_planned(today + 1)
        changed = {}
        for number, product in enumerate(self._products):
            anew = draw.random() < CHANGED_SHARE
            if number in still and number not in promoted:
                changed[number] = still[number].compute_price_cents(self._usual_cents[number])
            elif number in promoted and number not in still:
                changed[number] = self._usual_cents[number]
            elif anew and number not in still and number not in planned:
                self._usual_cents[number] = draw_price_cents(product.unit_cost_cents, draw)
                changed[number] = self._usual_cents[number]
        return changed

    def take_effect(self, hour: int) -> bool:
        """Apply the prices that hold from the world's n-th hour on. Returns whether any changed."""
        now_ms = to_hour_start_ms(hour)
        due = [change for change in self._ahead if change.effective_ms <= now_ms]
        for change in due:
            self.cents[change.product] = change.cents
        self._ahead = [change for change in self._ahead if change.effective_ms > now_ms]
        return bool(due)

    def dump_state(self) -> dict[str, Any]:
        return {"cents": self.cents, "usual_cents": self._usual_cents, "ahead": self._ahead}

    def restore(self, state: dict[str, Any]) -> None:
        self.cents = list(state["cents"])
        self._usual_cents = list(state["usual_cents"])
        self._ahead = [Change(*change) for change in state["ahead"]]


def _build_change(event_id: str, at_ms: int, sku: str, cents: int, effective_ms: int) -> Event:
    return {
        "event_id": event_id,
        "event_time": at_ms,
        "sku": sku,
        "price_cents": cents,
        "effective_at": effective_ms,
    }
