"""The pipeline's proposals are the oracle's, over drawn weeks, in any order and with copies."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, PRODUCTS, PROMOTIONS, PROPOSALS, SHIPMENTS
from ops.verify.oracles import ReorderOracle
from pipelines.reorder.pipeline import PIPELINE, POLICY
from tests.pipelines.log import compute_rows, index_rows, select_inputs
from tests.seeds import create_random
from tests.timeline import (
    APPLES,
    DAY,
    LEEDS,
    LONDON,
    MILK,
    NOTICES_MINUTES,
    PACKS,
    PRICES,
    WINE,
    Line,
    Timeline,
)

pytestmark = pytest.mark.spark

EVENTS, COPIES, NIGHTS, PLANS = 400, 80, 10, 12
UNKNOWN = "SKU-NEW"
DELAYS_MINUTES = (0, 0, 0, 20, 110, 130)

CHANGED = DAY + timedelta(days=3, hours=1)
MILK_CHANGED: dict[str, Any] = {"unit_cost_cents": 0, "pack_size_units": 30, "lead_time_days": 5}


class Drawn:
    """Everything that moves shelves, around midnights; some late, some too late.

    Of a product nothing is known, and the terms of another change in between. Promotions are
    planned with notice and without, and begin and end around midnights, too.
    """

    def __init__(self, chance: Random) -> None:
        self.shop = Timeline()
        self.shop.introduce_apples(lead_time_days=1)
        self.shop.put(PRODUCTS, DAY, effective_at=CHANGED, sku=MILK, **MILK_CHANGED)
        self._chance = chance
        for _ in range(PLANS):
            self.plan()
        for _ in range(EVENTS):
            happened = self._moment()
            published = happened + timedelta(minutes=chance.choice(DELAYS_MINUTES))
            event = chance.choices(
                (self.receipt, self.refund, self.shipment, self.adjustment), (5, 1, 2, 2)
            )[0]
            event(happened, published)

    def plan(self) -> None:
        effective_at, sku = self._moment(), self._chance.choice((MILK, WINE))
        starts_at = effective_at + timedelta(minutes=self._chance.choice((0, 10, 2_000)))
        self.shop.plan_promotion(
            sku,
            starts_at,
            starts_at + timedelta(minutes=self._chance.choice((1, 120, 2_880))),
            self._chance.randint(0, PRICES[sku]),
            effective_at,
            effective_at - timedelta(minutes=self._chance.choice(NOTICES_MINUTES)),
        )

    def _moment(self) -> datetime:
        minutes = self._chance.randint(-120, 120)
        return DAY + timedelta(days=self._chance.randrange(NIGHTS), minutes=minutes)

    def receipt(self, happened: datetime, published: datetime) -> None:
        store = self._chance.choice((LEEDS, LONDON))
        self.shop.sell(happened, *self._lines(), store=store, published=published)

    def refund(self, happened: datetime, published: datetime) -> None:
        self.shop.refund(happened, *self._lines(), published=published)

    def shipment(self, happened: datetime, published: datetime) -> None:
        received = self._chance.random() < 0.5
        lines = [
            {"sku": sku, "dispatched_units": 10, "received_units": units if received else 0}
            for sku, units, *_ in self._lines()
        ]
        self.shop.put(
            SHIPMENTS,
            happened,
            published,
            store_id=LEEDS,
            status="received" if received else "dispatched",
            purchase_order_id=self._chance.choice((None, "PO-1")),
            lines=lines,
        )

    def adjustment(self, happened: datetime, published: datetime) -> None:
        self.shop.put(
            ADJUSTMENTS,
            happened,
            published,
            store_id=self._chance.choice((LEEDS, LONDON)),
            sku=self._chance.choice((MILK, WINE, UNKNOWN)),
            units=self._chance.choice((-3, 12)),
            reason=self._chance.choice(("opening", "count")),
        )

    def _lines(self) -> list[Line]:
        skus = self._chance.choices((MILK, WINE, APPLES, UNKNOWN), k=self._chance.randint(1, 3))
        return [self._line(sku) for sku in skus]

    def _line(self, sku: str) -> Line:
        if sku == APPLES:
            return (sku, self._chance.randint(1, 9_000), 299, "kilogram")
        return (sku, self._chance.randint(1, 9), 100)


def test_the_pipelines_proposals_are_the_oracles(spark: SparkSession) -> None:
    chance = create_random("weeks")
    log = Drawn(chance).shop.records
    expected = index_rows(PROPOSALS, ReorderOracle(log, POLICY).compute_view())
    assert {row["days"] for row in expected.values()} == set(range(1, 8))
    assert {row["pack_size_units"] for row in expected.values()} == {*PACKS.values(), 12_500, 30}
    assert {row["measure"] for row in expected.values()} == {None, "kilogram"}
    assert all(row["sku"] != UNKNOWN for row in expected.values())
    again = [*log, *chance.sample(select_inputs(PIPELINE, log), COPIES)]
    chance.shuffle(again)
    assert compute_rows(spark, PIPELINE, again) == expected
    unplanned = [one for one in log if one.topic != PROMOTIONS.name]
    assert ReorderOracle(unplanned, POLICY).compute_view() != list(expected.values())
