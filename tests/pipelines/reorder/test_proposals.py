"""The pipeline's proposals are the oracle's, over drawn weeks, in any order and with copies."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, PRODUCTS, PROPOSALS, SHIPMENTS, key
from pipelines.common.fold import rows
from pipelines.common.sides import Fact, intervals, schema
from pipelines.reorder.pipeline import PIPELINE, POLICY
from tests.oracle.log import Record
from tests.oracle.reorder import ReorderOracle
from tests.oracle.tables import EPOCH, MILLISECOND
from tests.oracle.timeline import BEFORE, DAY, LEEDS, LONDON, MILK, PACKS, WINE, Timeline
from tests.pipelines.log import RECORD
from tests.rows import collected
from tests.seeds import drawn

pytestmark = pytest.mark.spark

EVENTS, COPIES, NIGHTS = 400, 80, 10
UNKNOWN = "SKU-NEW"
DELAYS_MINUTES = (0, 0, 0, 20, 110, 130)

(SIDE,) = PIPELINE.sides
LEAD_TIME_DAYS, COST_CENTS = (
    PRODUCTS.examples[0][of] for of in ("lead_time_days", "unit_cost_cents")
)
CHANGED = DAY + timedelta(days=3, hours=1)
MILK_CHANGED: dict[str, Any] = {"unit_cost_cents": 0, "pack_size_units": 30, "lead_time_days": 5}


class Drawn:
    """Everything that moves shelves, around midnights; some late, some too late.

    Of a product nothing is known, and the terms of another change in between.
    """

    def __init__(self, chance: Random) -> None:
        self.shop = Timeline()
        self.shop.put(PRODUCTS, DAY, effective_at=CHANGED, sku=MILK, **MILK_CHANGED)
        self._chance = chance
        for _ in range(EVENTS):
            minutes = chance.randint(-120, 120)
            happened = DAY + timedelta(days=chance.randrange(NIGHTS), minutes=minutes)
            published = happened + timedelta(minutes=chance.choice(DELAYS_MINUTES))
            event = chance.choices(
                (self.receipt, self.refund, self.shipment, self.adjustment), (5, 1, 2, 2)
            )[0]
            event(happened, published)

    def receipt(self, happened: datetime, published: datetime) -> None:
        store = self._chance.choice((LEEDS, LONDON))
        self.shop.receipt(happened, *self._lines(), store=store, published=published)

    def refund(self, happened: datetime, published: datetime) -> None:
        self.shop.refund(happened, *self._lines(), published=published)

    def shipment(self, happened: datetime, published: datetime) -> None:
        received = self._chance.random() < 0.5
        lines = [
            {"sku": sku, "dispatched_units": 10, "received_units": units if received else 0}
            for sku, units, _ in self._lines()
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

    def _lines(self) -> list[tuple[str, int, int]]:
        skus = self._chance.choices((MILK, WINE, UNKNOWN), k=self._chance.randint(1, 3))
        return [(sku, self._chance.randint(1, 9), 100) for sku in skus]


def test_the_pipelines_proposals_are_the_oracles(spark: SparkSession) -> None:
    chance = drawn("weeks")
    log = Drawn(chance).shop.records
    expected = {key(PROPOSALS, row): row for row in ReorderOracle(log, POLICY).view()}
    assert {row["days"] for row in expected.values()} == set(range(1, 8))
    assert {row["pack_size_units"] for row in expected.values()} == {*PACKS.values(), 30}
    assert all(row["sku"] != UNKNOWN for row in expected.values())
    moves = [one for one in log if one.topic in {topic.name for topic in PIPELINE.reads}]
    again = [*moves, *chance.sample(moves, COPIES)]
    chance.shuffle(again)
    frame = spark.createDataFrame(
        [as_read(offset, one) for offset, one in enumerate(again)], RECORD
    )
    terms = spark.createDataFrame(list(intervals(facts())), schema(SIDE))
    found = {key(PROPOSALS, row): row for row in collected(rows(PIPELINE, frame, {SIDE: terms}))}
    assert found == expected


def as_read(offset: int, record: Record) -> tuple[object, ...]:
    published = EPOCH + record.published_ms * MILLISECOND
    return record.topic, 0, offset, published, record.key, record.value


def facts() -> list[Fact]:
    """What holds of the timeline's products, and from when on."""
    told = [
        *[(sku, BEFORE, (COST_CENTS, pack, LEAD_TIME_DAYS)) for sku, pack in PACKS.items()],
        (MILK, CHANGED, tuple(MILK_CHANGED.values())),
    ]
    return [
        Fact((sku,), (since - EPOCH) // MILLISECOND, (0, offset), (sku, *terms))
        for offset, (sku, since, terms) in enumerate(told)
    ]
