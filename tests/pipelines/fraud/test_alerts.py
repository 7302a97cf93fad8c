"""The pipeline's alerts are the oracle's, over drawn timelines and limits soon reached."""

from datetime import timedelta
from random import Random

import pytest
from pyspark.sql import SparkSession

from contracts import ALERTS
from infra.kafka import Record
from ops.verify.fraud import FraudOracle
from pipelines.fraud.pipeline import create_pipeline
from tests.pipelines.fraud.crowds import CROWDS
from tests.pipelines.log import compute_rows, index_rows
from tests.seeds import create_random
from tests.timeline import (
    APPLES,
    BORDERS,
    DELAYS_MINUTES,
    DIMENSION_KINDS,
    LEEDS,
    LIMITS,
    LONDON,
    MILK,
    NOTICES_MINUTES,
    WINE,
    YORK,
    Line,
    Timeline,
)

pytestmark = pytest.mark.spark

SALES, REFUNDS, CHANGES = 400, 150, 30
CARDS = (None, "tok_1", "tok_2", "tok/3", "tok%4")
WEIGHED_SHARE = 0.3


def draw_timeline(chance: Random) -> list[Record]:
    """Sales and refunds around the borders of intervals, some of them published late, some by a
    clock that is ahead; facts with and without notice."""
    shop = Timeline()
    shop.introduce_apples()

    def draw_moment() -> tuple[timedelta, ...]:
        return timedelta(minutes=chance.randint(-40, 40)), timedelta(
            minutes=chance.choice(DELAYS_MINUTES)
        )

    def draw_line() -> Line:
        cents = chance.choice((0, 100, 500, 1_000))
        if chance.random() < WEIGHED_SHARE:
            units = chance.choice((1, 350, 12_500, 60_000))
            return (chance.choice((APPLES, APPLES, MILK)), units, cents, "kilogram")
        return (chance.choice((MILK, WINE, APPLES)), chance.choice((1, 2, 8)), cents)

    def draw_lines() -> list[Line]:
        return [draw_line() for _ in range(chance.randint(1, 2))]

    for _ in range(CHANGES):
        off, _ = draw_moment()
        effective_at = chance.choice(BORDERS) + off
        published = effective_at - timedelta(minutes=chance.choice(NOTICES_MINUTES))
        shop.change_dimension(
            chance.choice(DIMENSION_KINDS), effective_at, published, chance.randint(1, 3)
        )
    sold = []
    for _ in range(SALES):
        off, delay = draw_moment()
        happened = chance.choice(BORDERS) + off
        sale = shop.sell(
            happened,
            *draw_lines(),
            card=chance.choice(CARDS),
            store=chance.choice((LEEDS, YORK, LONDON)),
            cashier=chance.choice(("K1", "K2")),
            customer=chance.choice((None, "C1")),
            published=happened + delay,
        )
        sold.append((sale, happened))
    for _ in range(REFUNDS):
        off, delay = draw_moment()
        happened = chance.choice(BORDERS) + off
        receipt, issued = chance.choice([(None, None), *chance.sample(sold, 3)])
        shop.refund(
            happened,
            *draw_lines(),
            receipt=receipt,
            issued=issued,
            card=chance.choice(CARDS),
            cashier=chance.choice(("K1", "K2")),
            published=happened + delay,
        )
    return sorted(shop.records, key=lambda record: record.published_ms)


def test_the_pipelines_alerts_are_the_oracles(spark: SparkSession) -> None:
    log = draw_timeline(create_random("timeline"))
    expected = index_rows(ALERTS, FraudOracle(log, LIMITS).compute_view())
    assert {row["rule"] for row in expected.values()} == CROWDS.keys()
    assert compute_rows(spark, create_pipeline(LIMITS), log) == expected
