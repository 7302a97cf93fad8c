"""Any order and any repetition of the same events give the same view."""

from datetime import timedelta
from random import Random

import pytest
from pyspark.sql import SparkSession

from contracts import STOCK_LEVELS, compute_digest
from pipelines.common.flow import build_rows
from pipelines.inventory.pipeline import PIPELINE
from tests.pipelines.log import (
    Published,
    adjustment,
    create_log,
    delivery,
    dispatch,
    receipt,
    refund,
)
from tests.rows import collect_rows
from tests.seeds import create_random

pytestmark = pytest.mark.spark

EVENTS = 1_000
COPIES = 200
STORES = ["S001", "S002", "S003"]
SKUS = [f"SKU-{number}" for number in range(40)]

ON_TIME, LATE, BEYOND = timedelta(), timedelta(minutes=119), timedelta(minutes=121)


def draw_event(chance: Random) -> Published:
    when = {
        "at": timedelta(minutes=chance.randrange(600)),
        "after": chance.choices([ON_TIME, LATE, BEYOND], [90, 7, 3])[0],
    }
    store_id = chance.choice(STORES)
    if chance.random() < 0.2:
        units = chance.choice([-3, -1, 12, 40])
        return adjustment(units, chance.choice(SKUS), store_id=store_id, **when)
    lines = [(chance.choice(SKUS), chance.randint(1, 9)) for _ in range(chance.randint(1, 5))]
    if chance.random() < 0.1:
        short = [(sku, units, chance.randint(0, units)) for sku, units in lines]
        return delivery(*short, store_id=store_id, **when)
    if chance.random() < 0.2:
        return chance.choice([dispatch, refund])(*lines, store_id=store_id, **when)
    return receipt(*lines, store_id=store_id, **when)


def digest_view(spark: SparkSession, log: list[Published]) -> str:
    return compute_digest(STOCK_LEVELS, collect_rows(build_rows(PIPELINE, create_log(spark, *log))))


def test_any_order_and_repetition_of_the_same_events_give_the_same_view(
    spark: SparkSession,
) -> None:
    chance = create_random("order and repetition")
    log = [draw_event(chance) for _ in range(EVENTS)]
    again = [*log, *chance.sample(log, COPIES)]
    chance.shuffle(again)
    assert digest_view(spark, again) == digest_view(spark, log)
