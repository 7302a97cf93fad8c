"""Each view of a drawn timeline is as its oracle says, in any order and with copies."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, PRODUCTS, SHIPMENTS, STORES
from pipelines.common.pipeline import list_pipelines
from tests.pipelines.fraud.crowds import CROWDS
from tests.pipelines.log import ask_oracle, compute_rows, index_rows, load_pipeline, select_inputs
from tests.seeds import create_random
from tests.timeline import (
    APPLES,
    DAY,
    LEEDS,
    LONDON,
    MILK,
    PLACES,
    PRICES,
    WINE,
    YORK,
    Line,
    Timeline,
    parse_clock,
)

pytestmark = pytest.mark.spark

EVENTS, COPIES, CHANGES, PLANS = 800, 160, 30, 12
WEIGHED_SHARE = 0.3
UNKNOWN = "SKU-NEW"

BORDERS = (parse_clock("8:00"), parse_clock("11:00"), parse_clock("0:00", days=1))
"""The ends of the rules' intervals; events lie around them."""
NIGHTS = tuple(DAY + timedelta(days=night) for night in range(10))

AROUND: Mapping[str, tuple[tuple[datetime, ...], int]] = {
    **dict.fromkeys(list_pipelines(), (BORDERS, 90)),
    "fraud": (BORDERS, 40),
    "reorder": (NIGHTS, 120),
}
"""By pipeline: the moments around which events happen, and by how many minutes."""

KINDS: Mapping[str, tuple[str, set[object]]] = {
    "fraud": ("rule", {*CROWDS}),
    "visits": ("status", {"counted", "withdrawn"}),
    "reorder": ("days", {*range(1, 8)}),
    "pricing": ("measure", {None, "kilogram"}),
}
"""By pipeline: what is among the rows of such a timeline."""

NOTICES_MINUTES = (-20, 0, 4, 9, 10, 15, 60)
"""The time from a dimension version's publication to its effect: in time, on short notice, or
afterwards."""
DELAYS_MINUTES = (-5, 0, 0, 0, 20, 110, 130)
"""The time from an event to its publication; negative where a clock is ahead. Some are too late."""


class Drawn(Timeline):
    """Everything that moves shelves, by cards, customers and cashiers that come again.

    Of a product nothing is known, and prices, products and places change in between. Promotions are
    planned with notice and without.
    """

    def __init__(self, chance: Random, moments: tuple[datetime, ...], off_minutes: int) -> None:
        super().__init__()
        self._chance, self._moments, self._off_minutes = chance, moments, off_minutes
        self._sold: list[tuple[str | None, datetime | None]] = [(None, None)] * 3
        self.introduce_apples(lead_time_days=1)
        for _ in range(PLANS):
            self._plan()
        for number in range(CHANGES):
            self._change_dimension(1 + number % 3)
        events = self._sell, self._take_back, self._ship, self._adjust
        for _ in range(EVENTS):
            happened = self._draw_moment()
            published = happened + timedelta(minutes=chance.choice(DELAYS_MINUTES))
            chance.choices(events, (10, 4, 2, 2))[0](happened, published)

    def _draw_moment(self) -> datetime:
        off = self._chance.randint(-self._off_minutes, self._off_minutes)
        return self._chance.choice(self._moments) + timedelta(minutes=off)

    def _plan(self) -> None:
        effective_at, sku = self._draw_moment(), self._chance.choice((MILK, WINE))
        starts_at = effective_at + timedelta(minutes=self._chance.choice((0, 10, 2_000)))
        self.plan_promotion(
            sku,
            starts_at,
            starts_at + timedelta(minutes=self._chance.choice((1, 120, 2_880))),
            self._chance.randint(0, PRICES[sku]),
            effective_at,
            effective_at - timedelta(minutes=self._chance.choice(NOTICES_MINUTES)),
        )

    def _change_dimension(self, number: int) -> None:
        """Publish a small change of a price, of a product's terms, and of a place."""
        effective_at = self._draw_moment()
        published = effective_at - timedelta(minutes=self._chance.choice(NOTICES_MINUTES))
        self.set_price(WINE, number * PRICES[WINE], effective_at, published)
        terms: dict[str, Any] = {
            "pack_size_units": number,
            "unit_cost_cents": number - 1,
            "lead_time_days": number,
            "lead_time_hours": self._chance.choice((None, 0, 23)),
        }
        self.put(PRODUCTS, published, effective_at=effective_at, sku=MILK, **terms)
        latitude, longitude = PLACES[YORK]
        place: dict[str, Any] = {
            "latitude_microdegrees": latitude - number * 1_000_000,
            "longitude_microdegrees": longitude,
        }
        self.put(STORES, published, effective_at=effective_at, store_id=YORK, **place)

    def _sell(self, happened: datetime, published: datetime) -> None:
        sale = self.sell(
            happened,
            *self._draw_lines(),
            card=self._choose_card(),
            store=self._choose_store(),
            cashier=self._chance.choice(("K1", "K2")),
            customer=self._chance.choice((None, None, "C1", "C2", "C/3", "C%4")),
            published=published,
        )
        self._sold.append((sale, happened))

    def _take_back(self, happened: datetime, published: datetime) -> None:
        receipt, issued = self._chance.choice([(None, None), *self._chance.sample(self._sold, 3)])
        self.refund(
            happened,
            *self._draw_lines(),
            receipt=receipt,
            issued=issued,
            card=self._choose_card(),
            cashier=self._chance.choice(("K1", "K2")),
            published=published,
        )

    def _ship(self, happened: datetime, published: datetime) -> None:
        received = self._chance.random() < 0.5
        self.put(
            SHIPMENTS,
            happened,
            published,
            store_id=LEEDS,
            status="received" if received else "dispatched",
            purchase_order_id=self._chance.choice((None, "PO-1")),
            lines=[
                {"sku": sku, "dispatched_units": 10, "received_units": units if received else 0}
                for sku, units, *_ in self._draw_lines()
            ],
        )

    def _adjust(self, happened: datetime, published: datetime) -> None:
        self.put(
            ADJUSTMENTS,
            happened,
            published,
            store_id=self._choose_store(),
            sku=self._chance.choice((MILK, WINE, UNKNOWN)),
            units=self._chance.choice((-3, 12)),
            reason=self._chance.choice(("opening", "count")),
        )

    def _choose_card(self) -> str | None:
        return self._chance.choice((None, "tok_1", "tok_2", "tok/3", "tok%4"))

    def _choose_store(self) -> str:
        return self._chance.choice((LEEDS, YORK, LONDON))

    def _draw_lines(self) -> list[Line]:
        return [self._draw_line() for _ in range(self._chance.randint(1, 3))]

    def _draw_line(self) -> Line:
        cents = self._chance.choice((0, 100, 500, 1_000))
        if self._chance.random() < WEIGHED_SHARE:
            units = self._chance.choice((1, 2, 3, 350, 12_500, 60_000))
            return self._chance.choice((APPLES, APPLES, MILK)), units, cents, "kilogram"
        sku = self._chance.choice((MILK, WINE, APPLES, UNKNOWN))
        return sku, self._chance.choice((1, 2, 8)), cents


@pytest.mark.parametrize("name", list_pipelines())
def test_each_view_of_a_drawn_timeline_is_its_oracles(spark: SparkSession, name: str) -> None:
    pipeline, chance = load_pipeline(name), create_random("timeline")
    log = Drawn(chance, *AROUND[name]).records
    expected = ask_oracle(pipeline, log).compute_views()
    again = [*log, *chance.sample(select_inputs(pipeline, log), COPIES)]
    chance.shuffle(again)
    for number, view in enumerate(pipeline.writes):
        rows = index_rows(view, expected[view.name])
        assert rows, f"{view.name} has rows to be compared"
        assert compute_rows(spark, pipeline, again, number) == rows
        if name in KINDS and number == 0:
            field, kinds = KINDS[name]
            assert {row[field] for row in rows.values()} == kinds
    for dimension in pipeline.dimensions:
        unknown = [record for record in log if record.topic != dimension.topic.name]
        assert ask_oracle(pipeline, unknown).compute_views() != expected
