"""Which line is the first of its key is the same whether lines are compared or sorted."""

from collections.abc import Iterable
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.common.transform.first_lines import COMPARED_LINES_MAX, FirstLines
from tests.replay.hostile import PLANES
from tests.seeds import create_random

pytestmark = pytest.mark.spark

SIZES = (1, 2, 3, COMPARED_LINES_MAX - 1, COMPARED_LINES_MAX, COMPARED_LINES_MAX + 1)
FAR_BEYOND = (10 * COMPARED_LINES_MAX, 2_000)
EVENT = "number INT, lines ARRAY<STRUCT<sku: STRING, size: INT, units: INT>>"

Line = tuple[str, int, int]


def create_event(size: int, chance: Random) -> list[Line]:
    """So many lines, of few products or of many, some of which differ by their size alone."""
    skus = [*PLANES, *map(str, range(chance.choice((1, 3, size))))]
    return [(chance.choice(skus), chance.randint(1, 2), 1) for _ in range(size)]


def compare(lines: Iterable[Line], fields: int) -> list[bool]:
    """Of each line whether it is the first one with the same first fields."""
    seen: set[Line | tuple[str | int, ...]] = set()
    firsts = []
    for line in lines:
        firsts.append(line[:fields] not in seen)
        seen.add(line[:fields])
    return firsts


@pytest.mark.parametrize("names", [("sku",), ("sku", "size")], ids=len)
def test_the_first_line_of_a_key_is_found_in_short_events_and_in_long_ones(
    spark: SparkSession, names: tuple[str, ...]
) -> None:
    chance = create_random("lines")
    events = [create_event(size, chance) for size in (*SIZES, *FAR_BEYOND) for _ in range(3)]
    frame = spark.createDataFrame(list(enumerate(events)), EVENT).coalesce(1)
    first = FirstLines(names)
    items = F.arrays_zip(F.col("lines").alias("line"), F.col(first.previous).alias("previous"))
    exploded = first.prepare(frame).select("*", F.posexplode(items).alias("place", "item"))
    is_first = first.is_first("place", "item.line", "item.previous")
    found: list[list[bool]] = [[] for _ in events]
    for row in exploded.select("number", "place", is_first.alias("first")).collect():
        assert row["place"] == len(found[row["number"]])
        found[row["number"]].append(row["first"])
    assert found == [compare(lines, len(names)) for lines in events]
