"""Sums by slot are those of the rows, however the rows are split over tasks."""

from collections import defaultdict

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.common.transform.columns import sum_by_slot
from pipelines.engine.session import GROUPS_MAX, HASHED_GROUPS
from tests.pipelines.texts import IN_ORDER
from tests.seeds import create_random

pytestmark = pytest.mark.spark

ROWS, TASKS, MEMBERS_MAX = 20_000, 7, 5
GROUPS = 1_000
SLOTS = (None, -1, 0, 1, 2**31 - 1)
SCHEMA = "name int, slot int, at long, member string, one long, two long"


@pytest.mark.parametrize("hashed", [GROUPS // 10, GROUPS_MAX])
def test_sums_by_slot_are_those_of_the_rows(spark: SparkSession, hashed: int) -> None:
    own = spark.newSession()
    own.conf.set(HASHED_GROUPS, hashed)
    chance = create_random("slots")
    drawn = [
        (
            int(chance.paretovariate(1)) % GROUPS,
            chance.choice(SLOTS),
            chance.randint(-(2**63), 2**63 - 1),
            chance.choice(IN_ORDER),
            chance.randint(-(2**40), 2**40),
            1,
        )
        for _ in range(ROWS)
    ]
    groups = defaultdict(list)
    for name, slot, *values in drawn:
        groups[name, slot].append(values)
    expected = defaultdict(list)
    for (name, slot), rows in sorted(groups.items(), key=lambda one: one[0][1] or 0):
        ats, members, ones, twos = zip(*rows, strict=True)
        kept = sorted(set(members), key=str.encode)[:MEMBERS_MAX]
        if slot is not None:
            expected[name].append((slot, min(ats), max(ats), kept, [sum(ones), sum(twos)]))
    assert max(len(kept) for slots in expected.values() for _, _, _, kept, _ in slots) == (
        MEMBERS_MAX
    )
    frame = own.createDataFrame(drawn, SCHEMA).repartition(TASKS)
    sums = sum_by_slot(
        F.col("slot"), F.col("at"), F.col("member"), MEMBERS_MAX, [F.col("one"), F.col("two")]
    )
    found = frame.groupBy("name").agg(sums.alias("slots")).collect()
    assert len(found) == len({name for name, _ in groups})
    for row in found:
        assert list(map(tuple, row["slots"])) == expected[row["name"]]


def test_more_groups_than_are_hashed_have_their_sums(spark: SparkSession) -> None:
    assert spark.conf.get(HASHED_GROUPS) == str(GROUPS_MAX)
    groups = GROUPS_MAX + 1
    number = F.col("id")
    sums = sum_by_slot(F.lit(0), number, F.lit("A"), MEMBERS_MAX, [number])
    rows = spark.range(3 * groups, numPartitions=1).groupBy((number % groups).alias("name"))
    found = {row["name"]: row["slots"] for row in rows.agg(sums.alias("slots")).collect()}
    assert len(found) == groups
    for name, [slot] in found.items():
        assert slot["sums"] == [3 * name + 3 * groups]


def test_a_group_without_a_slot_has_none(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, None, 1, "A", 1, 1)], SCHEMA)
    sums = sum_by_slot(F.col("slot"), F.col("at"), F.col("member"), 1, [F.col("one")])
    assert frame.agg(sums).first() == ([],)
