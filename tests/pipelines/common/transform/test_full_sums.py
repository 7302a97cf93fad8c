"""Sums are exact whether they have room in 64 bits or not."""

from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.common.transform.full_sums import (
    LOW_BITS,
    SUMS_IN_FULL,
    add_halves,
    join_halves,
    keep_halves,
)
from pipelines.engine.session import prepare_session
from tests.rows import collect_rows
from tests.seeds import create_random

pytestmark = pytest.mark.spark

LEAST, MOST = -(2**63), 2**63 - 1
LARGEST = 1_000_000 * (2**31 - 1)
"""What a line may come to."""


def split(total: int, chance: Random) -> list[int]:
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
        (number, amount) for number, total in enumerate(totals) for amount in split(total, chance)
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
