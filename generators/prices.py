"""Prices: the same in every store, announced long before they hold."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from generators.chance import chance
from generators.event import Event
from generators.products import Product, price_cents
from generators.ticks import HOUR_MS, START_MS, day, hour_of_day, hour_start_ms

CHANGED_SHARE = 0.03  # of the products, each day
DECIDED_AT_HOUR = 10  # of the day; they hold from the midnight after


class Change(NamedTuple):
    """A price that has been announced and does not hold yet."""

    effective_ms: int
    product: int
    cents: int


class Prices:
    def __init__(self, seed: int, products: Sequence[Product]) -> None:
        self._seed = seed
        self._products = products
        self._ahead: list[Change] = []
        self.cents = [product.unit_price_cents for product in products]

    def introduced(self) -> list[Event]:
        """The prices that the world begins with."""
        return [
            _changed(f"{product.sku}-priced", START_MS, product.sku, cents, START_MS)
            for product, cents in zip(self._products, self.cents, strict=True)
        ]

    def decided(self, hour: int) -> list[Event]:
        """The changes that are announced when the world's n-th hour begins."""
        if hour_of_day(hour) != DECIDED_AT_HOUR:
            return []
        now_ms = hour_start_ms(hour)
        effective_ms = now_ms + (24 - DECIDED_AT_HOUR) * HOUR_MS
        draw = chance(self._seed, "prices", day(hour))
        events = []
        for number, product in enumerate(self._products):
            if draw.random() < CHANGED_SHARE:
                cents = price_cents(product.unit_cost_cents, draw)
                self._ahead.append(Change(effective_ms, number, cents))
                event_id = f"{product.sku}-price-{day(hour)}"
                events.append(_changed(event_id, now_ms, product.sku, cents, effective_ms))
        return events

    def take_effect(self, hour: int) -> bool:
        """Whether other prices hold from the beginning of the world's n-th hour."""
        now_ms = hour_start_ms(hour)
        due = [change for change in self._ahead if change.effective_ms <= now_ms]
        for change in due:
            self.cents[change.product] = change.cents
        self._ahead = [change for change in self._ahead if change.effective_ms > now_ms]
        return bool(due)

    def state(self) -> dict[str, Any]:
        return {"cents": self.cents, "ahead": self._ahead}

    def restore(self, state: dict[str, Any]) -> None:
        self.cents = list(state["cents"])
        self._ahead = [Change(*change) for change in state["ahead"]]


def _changed(event_id: str, at_ms: int, sku: str, cents: int, effective_ms: int) -> Event:
    return {
        "event_id": event_id,
        "event_time": at_ms,
        "sku": sku,
        "price_cents": cents,
        "effective_at": effective_ms,
    }
