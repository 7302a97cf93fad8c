"""Whether a record is accepted: decided by the record alone, so that a replay decides the same.

The twin of contracts/judging.py: the same words for the same faults, in the same order.
"""

from datetime import timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import Contract, rule_sql
from contracts.judging import FUTURE, LATE, UNDECODABLE, WRONG_KEY
from pipelines.common.decode import EVENT


def judge(decoded: DataFrame, contract: Contract) -> DataFrame:
    """The contract's fields and the columns of META, one row per record, rejected ones too."""
    event_time = F.col(f"{EVENT}.{contract.event_time}")
    reason = first_reason(contract)
    return decoded.withColumn("_reason", reason).select(
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("timestamp").alias("_published"),
        "_reason",
        if_accepted(F.col(f"{EVENT}.event_id"), F.col("offset").cast("string")).alias("_identity"),
        if_accepted(event_time, F.col("timestamp")).alias("_clock"),
        f"{EVENT}.*",
    )


def first_reason(contract: Contract) -> Column:
    """The first thing wrong with a record; null when nothing is."""
    published = F.col("timestamp")
    happened = F.col(f"{EVENT}.{contract.event_time}")
    checks = [
        # A required field that is null: the body was not what the frame said.
        (F.col(f"{EVENT}.event_id").isNull() | happened.isNull(), UNDECODABLE),
        (~F.col("key").cast("string").eqNullSafe(key(contract)), WRONG_KEY),
        *[(~F.expr(sql), name) for name, sql in rule_sql(contract, prefix=f"{EVENT}.")],
    ]
    if contract.horizon is not None:
        checks.append((published > happened + interval(contract.horizon), LATE))
    if contract.skew is not None:
        checks.append((happened > published + interval(contract.skew), FUTURE))
    (broken, why), *others = checks
    return reduce(
        lambda chosen, check: chosen.when(check[0], check[1]), others, F.when(broken, why)
    )


def key(contract: Contract) -> Column:
    return F.concat_ws("/", *[F.col(f"{EVENT}.{field}").cast("string") for field in contract.key])


def if_accepted(value: Column, otherwise: Column) -> Column:
    return F.when(F.col("_reason").isNull(), value).otherwise(otherwise)


def interval(length: timedelta) -> Column:
    return F.expr(f"INTERVAL '{length.total_seconds():.3f}' SECOND")
