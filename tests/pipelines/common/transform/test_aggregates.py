"""The project's own aggregates and sums beyond 64 bits say what the rows say."""

from collections import defaultdict
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.common.transform.columns import collect_first, sum_by_slot
from pipelines.common.transform.full_sums import (
    LOW_BITS,
    SUMS_IN_FULL,
    add_halves,
    join_halves,
    keep_halves,
)
from pipelines.engine.session import GROUPS_MAX, HASHED_GROUPS, prepare_session
from tests.rows import collect_rows
from tests.seeds import create_random

pytestmark = pytest.mark.spark

ROWS, TASKS, MEMBERS_MAX = 20_000, 7, 5
GROUPS = 1_000
SLOTS = (None, -1, 0, 1, 2**31 - 1)
TEXTS = "name int, text string"
AMOUNTS = "name int, slot int, time long, member string, cents long, events long"
IN_ORDER = ("", "A", "Ab", "B", "é", "\ue000", "😀")
"""In the order of their bytes. That of a program with 16-bit characters has the last before the one
before it."""

EACH_WAY = pytest.mark.parametrize("hashed", [GROUPS // 10, GROUPS_MAX])
"""Most groups have fewer rows than are hashed, one has thousands."""


def split(spark: SparkSession, hashed: int, rows: list[tuple[Any, ...]], schema: str) -> DataFrame:
    """The rows over several tasks of a session that hashes so many groups."""
    own = spark.newSession()
    own.conf.set(HASHED_GROUPS, hashed)
    return own.createDataFrame(rows, schema).repartition(TASKS)


@EACH_WAY
def test_the_first_texts_are_those_of_the_rows(spark: SparkSession, hashed: int) -> None:
    """Most groups have fewer than are kept, one has thousands; each has a number of its own."""
    chance = create_random("texts")
    drawn = [
        (int(chance.paretovariate(1)) % GROUPS, chance.choice((None, *IN_ORDER)))
        for _ in range(ROWS)
    ]
    groups: dict[int, list[str]] = defaultdict(list)
    for name, text in drawn:
        groups[name] += [] if text is None else [text]
    most = 1 + F.col("name") % 50
    frame = split(spark, hashed, drawn, TEXTS)
    found = frame.groupBy("name").agg(collect_first(F.col("text"), most).alias("texts")).collect()
    assert {row["name"]: row["texts"] for row in found} == {
        name: sorted(texts, key=str.encode)[: 1 + name % 50] for name, texts in groups.items()
    }
    assert max(map(len, groups.values())) > ROWS // 10
    assert min(map(len, groups.values())) < 2


def test_equal_texts_are_kept_each_and_no_more_than_asked_for(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "A"), (1, "A"), (1, None), (1, "A")], TEXTS)
    texts = {most: collect_first(F.col("text"), F.lit(most)) for most in (0, 1, 2, 3, 4)}
    row = frame.agg(*[column.alias(f"of_{most}") for most, column in texts.items()]).first()
    assert row is not None
    assert [row[f"of_{most}"] for most in texts] == [["A"] * min(most, 3) for most in texts]


@EACH_WAY
def test_sums_by_slot_are_those_of_the_rows(spark: SparkSession, hashed: int) -> None:
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
    for (name, slot), rows in sorted(groups.items(), key=lambda group: group[0][1] or 0):
        times, members, cents, events = zip(*rows, strict=True)
        kept = sorted(set(members), key=str.encode)[:MEMBERS_MAX]
        if slot is not None:
            expected[name].append((slot, min(times), max(times), kept, [sum(cents), sum(events)]))
    assert max(len(kept) for slots in expected.values() for _, _, _, kept, _ in slots) == (
        MEMBERS_MAX
    )
    frame = split(spark, hashed, drawn, AMOUNTS)
    sums = sum_by_slot(
        F.col("slot"),
        F.col("time"),
        F.col("member"),
        MEMBERS_MAX,
        [F.col("cents"), F.col("events")],
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


def test_a_group_without_a_text_or_a_slot_has_none(spark: SparkSession) -> None:
    texts = spark.createDataFrame([(1, None)], TEXTS)
    assert texts.agg(collect_first(F.col("text"), F.lit(1))).first() == ([],)
    amounts = spark.createDataFrame([(1, None, 1, "A", 1, 1)], AMOUNTS)
    sums = sum_by_slot(F.col("slot"), F.col("time"), F.col("member"), 1, [F.col("cents")])
    assert amounts.agg(sums).first() == ([],)


LEAST, MOST = -(2**63), 2**63 - 1
LARGEST = 1_000_000 * (2**31 - 1)
"""What a line may come to."""


def split_total(total: int, chance: Random) -> list[int]:
    """Amounts of lines that come to the total, in any order."""
    whole, rest = divmod(total, LARGEST)
    sign = 1 if whole >= 0 else -1
    amounts = [sign * LARGEST] * abs(whole) + [rest]
    amounts += [amount for _ in range(3) for amount in (LARGEST, -LARGEST)]
    chance.shuffle(amounts)
    return amounts


@pytest.mark.parametrize("live", [True, False], ids=["interpreted", "generated"])
def test_a_sum_is_exact_around_64_bits_and_far_beyond_them(spark: SparkSession, live: bool) -> None:
    prepare_session(spark, live)
    chance = create_random("sums")
    edges = (0, 2**LOW_BITS, 2**62, MOST)
    totals = [sign * (edge + by) for edge in edges for by in (-2, -1, 0, 1, 2) for sign in (1, -1)]
    totals += [10 * MOST, 10 * LEAST]
    rows = [
        (number, amount)
        for number, total in enumerate(totals)
        for amount in split_total(total, chance)
    ]
    kept = keep_halves({"cents": add_halves(F.col("amount"), F.sum)})
    added = (
        spark.createDataFrame(rows, "number INT, amount BIGINT")
        .coalesce(1)
        .groupBy("number")
        .agg(*[column.alias(name) for name, column in kept.items()])
    )
    found = collect_rows(join_halves(added, ["cents"]))
    assert {row["number"]: (row["cents"], row[SUMS_IN_FULL]) for row in found} == {
        number: (
            min(max(total, LEAST), MOST),
            None if LEAST <= total <= MOST else [{"name": "cents", "digits": str(total)}],
        )
        for number, total in enumerate(totals)
    }
    assert any(row[SUMS_IN_FULL] for row in found)
