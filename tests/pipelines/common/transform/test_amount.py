"""What a line comes to, in Spark and in the oracles, at the bounds of the contracts."""

from decimal import ROUND_HALF_UP, Decimal
from itertools import product

import duckdb
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from contracts import PRODUCTS, RECEIPTS, REFUNDS
from contracts.measures import AMOUNT, MEASURES
from pipelines.common.transform.columns import compute_amount
from pipelines.engine.session import prepare_session

UNITS = (1, 2, 499, 500, 501, 999, 1_000, 1_001, 999_999, 1_000_000, None)
CENTS = (0, 1, 499, 500, 501, 999, 1_000, 2**31 - 2, 2**31 - 1, None)

Line = tuple[int | None, int | None, str | None]
LINES: list[Line] = list(product(UNITS, CENTS, (None, *MEASURES)))


def round_half_up(units: int | None, cents: int | None, measure: str | None) -> int | None:
    if units is None or cents is None:
        return None
    exact = Decimal(units * cents) / (1 if measure is None else 1_000)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


EXPECTED = [round_half_up(*line) for line in LINES]


def test_the_oracles_amount_is_exact() -> None:
    engine = duckdb.connect()
    engine.execute(AMOUNT)
    asked = "select amount(?::integer, ?::integer, ?::varchar)"
    amounts = [engine.execute(asked, line).fetchone() for line in LINES]
    assert amounts == [(amount,) for amount in EXPECTED]


@pytest.mark.spark
@pytest.mark.parametrize("live", [True, False], ids=["interpreted", "generated"])
def test_the_pipelines_amount_is_exact(spark: SparkSession, live: bool) -> None:
    prepare_session(spark, live)
    frame = spark.createDataFrame(
        [(number, *line) for number, line in enumerate(LINES)],
        "number INT, units INT, cents INT, measure STRING",
    )
    amount = compute_amount(F.col("units"), F.col("cents"), F.col("measure"))
    rows = frame.select("number", amount.alias("amount")).orderBy("number").collect()
    assert [row["amount"] for row in rows] == EXPECTED


def test_lines_and_products_have_the_same_measures() -> None:
    for contract in (PRODUCTS, RECEIPTS, REFUNDS):
        path = ("measure",) if contract is PRODUCTS else ("lines", "measure")
        rules = [rule for rule in contract.rules if rule.path == path]
        assert [rule.limit for rule in rules if rule.kind == "validValues"] == [MEASURES]
