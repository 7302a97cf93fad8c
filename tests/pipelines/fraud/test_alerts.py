"""The pipeline's alerts are the oracle's, over drawn timelines and limits soon reached."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from contracts import ALERTS, key
from contracts.judging import Rejection, judge
from infra.kafka import Partition
from pipelines.common.fold import Sides, is_book, rows
from pipelines.common.pipeline import AsOf, View
from pipelines.common.sides import Fact, fact, intervals, schema
from pipelines.fraud.clues import entries
from pipelines.fraud.pipeline import PIPELINE
from pipelines.fraud.suspicion import alerts
from tests.oracle.fraud import FraudOracle
from tests.oracle.log import Record
from tests.oracle.timeline import (
    BORDERS,
    DELAYS_MINUTES,
    KINDS_OF_FACTS,
    LEEDS,
    LIMITS,
    LONDON,
    MILK,
    NOTICES_MINUTES,
    WINE,
    YORK,
    Timeline,
    at,
)
from tests.pipelines.log import RECORD
from tests.rows import collected
from tests.seeds import drawn

pytestmark = pytest.mark.spark

SALES, REFUNDS, CHANGES = 400, 150, 30
CARDS = (None, "tok_1", "tok_2", "tok/3", "tok%4")

STRICT = replace(
    PIPELINE,
    views=(View(ALERTS, entries=lambda: entries(LIMITS), ends="interval_end"),),
    finish=lambda groups: alerts(groups, LIMITS, is_book()),
)


def timeline(chance: Random) -> list[Record]:
    """Sales and refunds around the borders of intervals, some of them published late, some by a
    clock that is ahead; facts with and without notice."""
    shop = Timeline()

    def moment() -> tuple[timedelta, ...]:
        return timedelta(minutes=chance.randint(-40, 40)), timedelta(
            minutes=chance.choice(DELAYS_MINUTES)
        )

    def lines() -> list[tuple[str, int, int]]:
        return [
            (chance.choice((MILK, WINE)), chance.choice((1, 2, 8)), chance.choice((0, 100, 1_000)))
            for _ in range(chance.randint(1, 2))
        ]

    for _ in range(CHANGES):
        off, _ = moment()
        effective_at = chance.choice(BORDERS) + off
        published = effective_at - timedelta(minutes=chance.choice(NOTICES_MINUTES))
        shop.fact(chance.choice(KINDS_OF_FACTS), effective_at, published, chance.randint(1, 3))
    sold = []
    for _ in range(SALES):
        off, delay = moment()
        happened = chance.choice(BORDERS) + off
        sale = shop.receipt(
            happened,
            *lines(),
            card=chance.choice(CARDS),
            store=chance.choice((LEEDS, YORK, LONDON)),
            cashier=chance.choice(("K1", "K2")),
            customer=chance.choice((None, "C1")),
            published=happened + delay,
        )
        sold.append((sale, happened))
    for _ in range(REFUNDS):
        off, delay = moment()
        happened = chance.choice(BORDERS) + off
        receipt, issued = chance.choice([(None, None), *chance.sample(sold, 3)])
        shop.refund(
            happened,
            *lines(),
            receipt=receipt,
            issued=issued,
            card=chance.choice(CARDS),
            cashier=chance.choice(("K1", "K2")),
            published=happened + delay,
        )
    return sorted(shop.records, key=lambda record: record.published_ms)


def facts(side: AsOf, log: Iterable[Record]) -> Iterator[Fact]:
    for record in log:
        if record.topic != side.topic.name:
            continue
        said = judge(side.topic, record.key, record.value, record.published_ms)
        assert not isinstance(said, Rejection)
        place = record.partition, record.offset
        fields = (*side.topic.key, *side.columns)
        yield fact(side.topic, side.since, fields, place, record.published_ms, said)


def known(spark: SparkSession, log: list[Record]) -> Sides:
    return {
        side: spark.createDataFrame(list(intervals(facts(side, log))), schema(side))
        for side in STRICT.sides
    }


def frame(spark: SparkSession, log: list[Record]) -> DataFrame:
    read = {topic.name for topic in STRICT.reads}
    at_place: dict[Partition, int] = {}
    found = []
    for record in log:
        if record.topic in read:
            place = record.topic, record.partition
            offset = at_place[place] = at_place.get(place, -1) + 1
            published = at("0:00") + timedelta(
                milliseconds=record.published_ms - int(at("0:00").timestamp() * 1000)
            )
            found.append((*place, offset, published, record.key, record.value))
    return spark.createDataFrame(found, RECORD)


def test_the_pipelines_alerts_are_the_oracles(spark: SparkSession) -> None:
    log = timeline(drawn("timeline"))
    expected = {key(ALERTS, row): row for row in FraudOracle(log, LIMITS).view()}
    found = {
        key(ALERTS, row): row
        for row in collected(rows(STRICT, frame(spark, log), known(spark, log)))
    }
    assert {row["rule"] for row in expected.values()} == {
        "card-velocity",
        "impossible-travel",
        "sweethearting",
        "refund-without-receipt",
        "refund-rate",
        "bulk-purchase",
    }
    assert found.keys() == expected.keys()
    for identity, row in expected.items():
        assert comparable(found[identity]) == comparable(row)


def comparable(row: dict[str, object]) -> dict[str, object]:
    evidence = row["evidence"]
    assert isinstance(evidence, list)
    proofs = [(one["topic"], one["event_id"], one["event_time"].timestamp()) for one in evidence]
    return {**row, "evidence": proofs}
