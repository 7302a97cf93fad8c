"""The pipeline's visits are the oracle's, over a drawn timeline, in any order and with copies."""

from datetime import timedelta
from random import Random

import pytest
from pyspark.sql import SparkSession

from contracts import RECEIPTS, VISITS, encode_key
from infra.kafka import Record
from ops.verify.inventory import Row
from ops.verify.oracles import VisitsOracle
from pipelines.common.flow import build_rows
from pipelines.visits.pipeline import LIMITS, PIPELINE
from tests.pipelines.log import create_frame
from tests.rows import collect_rows
from tests.seeds import create_random
from tests.timeline import APPLES, LEEDS, LONDON, MILK, WINE, YORK, Timeline, parse_clock

pytestmark = pytest.mark.spark

SALES, COPIES = 300, 60
CUSTOMERS = (None, "C1", "C2", "C/3", "C%4")
BORDERS = (parse_clock("8:00"), parse_clock("11:00"), parse_clock("0:00", days=1))
DELAYS_MINUTES = (0, 0, 0, 20, 110, 130)
PRICE_CENTS, HALVES_CENTS = 100, 500


def draw_timeline(chance: Random) -> list[Record]:
    """Sales around a few moments, midnight among them; some late, some too late."""
    shop = Timeline()
    for _ in range(SALES):
        happened = chance.choice(BORDERS) + timedelta(minutes=chance.randint(-90, 90))
        shop.sell(
            happened,
            *[
                (sku, chance.randint(1, 9), PRICE_CENTS)
                for sku in chance.choices((MILK, WINE), k=chance.randint(1, 3))
            ],
            (APPLES, chance.choice((1, 2, 3, 350)), HALVES_CENTS, "kilogram"),
            customer=chance.choice(CUSTOMERS),
            store=chance.choice((LEEDS, YORK, LONDON)),
            published=happened + timedelta(minutes=chance.choice(DELAYS_MINUTES)),
        )
    return [record for record in shop.records if record.topic == RECEIPTS.name]


def test_the_pipelines_visits_are_the_oracles(spark: SparkSession) -> None:
    chance = create_random("visits")
    log = draw_timeline(chance)
    expected = compute_expected(log)
    assert {row["status"] for row in expected.values()} == {"counted", "withdrawn"}
    again = [*log, *chance.sample(log, COPIES)]
    chance.shuffle(again)
    assert compute_visits(spark, again) == expected


def test_a_visit_counts_so_many_stores_and_no_more(spark: SparkSession) -> None:
    most = LIMITS.stores_max
    assert f"stores is at most {most}" in {rule.name for rule in VISITS.rules}
    shop = Timeline()
    for stores in (most - 1, most, most + 1, 10 * most):
        for number in range(stores):
            moment = parse_clock("10:00") + timedelta(minutes=50) * (number % 2)
            shop.sell(moment, customer=f"C{stores}", store=f"S{number}")
            shop.sell(parse_clock("10:25"), customer=f"C{stores}", store=f"S{number}")
    visits = compute_visits(spark, shop.records)
    assert visits == compute_expected(shop.records)
    found = {row["customer_id"]: row["stores"] for row in visits.values() if is_counted(row)}
    assert found == {
        f"C{most - 1}": most - 1,
        f"C{most}": most,
        f"C{most + 1}": most,
        f"C{10 * most}": most,
    }


def is_counted(row: Row) -> bool:
    return bool(row["status"] == "counted")


def compute_expected(log: list[Record]) -> dict[bytes, Row]:
    """The oracle's rows by key."""
    [expected] = VisitsOracle(log, LIMITS, {}).compute_views().values()
    return {encode_key(VISITS, row): row for row in expected}


def compute_visits(spark: SparkSession, log: list[Record]) -> dict[bytes, Row]:
    """The pipeline's rows by key, of the records that it reads, in this order."""
    read = {topic.name for topic in PIPELINE.inputs}
    frame = create_frame(spark, [one for one in log if one.topic in read])
    return {encode_key(VISITS, row): row for row in collect_rows(build_rows(PIPELINE, frame))}
