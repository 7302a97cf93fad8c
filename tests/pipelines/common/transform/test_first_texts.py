"""The first texts of a group are those of its rows, however the rows are split over tasks."""

from collections import defaultdict

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.common.transform.columns import collect_first
from pipelines.engine.session import GROUPS_MAX, HASHED_GROUPS
from tests.pipelines.texts import IN_ORDER
from tests.seeds import create_random

pytestmark = pytest.mark.spark

ROWS, TASKS = 20_000, 7
GROUPS = 1_000
SCHEMA = "name int, text string"


@pytest.mark.parametrize("hashed", [GROUPS // 10, GROUPS_MAX])
def test_the_first_texts_are_those_of_the_rows(spark: SparkSession, hashed: int) -> None:
    """Most groups have fewer than are kept, one has thousands; each has a number of its own."""
    own = spark.newSession()
    own.conf.set(HASHED_GROUPS, hashed)
    chance = create_random("texts")
    drawn = [
        (int(chance.paretovariate(1)) % GROUPS, chance.choice((None, *IN_ORDER)))
        for _ in range(ROWS)
    ]
    groups: dict[int, list[str]] = defaultdict(list)
    for name, text in drawn:
        groups[name] += [] if text is None else [text]
    most = 1 + F.col("name") % 50
    frame = own.createDataFrame(drawn, SCHEMA).repartition(TASKS)
    found = frame.groupBy("name").agg(collect_first(F.col("text"), most).alias("texts")).collect()
    assert {row["name"]: row["texts"] for row in found} == {
        name: sorted(texts, key=str.encode)[: 1 + name % 50] for name, texts in groups.items()
    }
    assert max(map(len, groups.values())) > ROWS // 10
    assert min(map(len, groups.values())) < 2


def test_equal_texts_are_kept_each_and_no_more_than_asked_for(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "A"), (1, "A"), (1, None), (1, "A")], SCHEMA)
    texts = {most: collect_first(F.col("text"), F.lit(most)) for most in (0, 1, 2, 3, 4)}
    row = frame.agg(*[one.alias(f"of_{most}") for most, one in texts.items()]).first()
    assert row is not None
    assert [row[f"of_{most}"] for most in texts] == [["A"] * min(most, 3) for most in texts]


def test_a_group_without_a_text_has_none(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, None)], SCHEMA)
    assert frame.agg(collect_first(F.col("text"), F.lit(1))).first() == ([],)
