"""Whether a record is accepted: decided by the record alone, so that a replay decides the same.

The twin of contracts/judging.py: the same words for the same faults, in the same order.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import Contract, Field, rule_sql
from contracts.judging import FUTURE, LATE, UNDECODABLE, WRONG_KEY
from pipelines.common.decode import EVENT

MILLISECOND = timedelta(milliseconds=1)


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
    happened = F.col(f"{EVENT}.{contract.event_time}")
    # In milliseconds: the last times that Spark has are not to be added to.
    delay_ms = F.unix_millis("timestamp") - F.unix_millis(happened)
    checks = [
        # A required field that is null: the body was not what the frame said.
        (F.col(f"{EVENT}.event_id").isNull() | happened.isNull(), UNDECODABLE),
        *[(~text, UNDECODABLE) for text in texts(contract.fields)],
        (~F.col("key").cast("string").eqNullSafe(key(contract)), WRONG_KEY),
        *[(~F.expr(sql), name) for name, sql in rule_sql(contract, prefix=f"{EVENT}.")],
    ]
    if contract.horizon is not None:
        checks.append((delay_ms > contract.horizon // MILLISECOND, LATE))
    if contract.skew is not None:
        checks.append((-delay_ms > contract.skew // MILLISECOND, FUTURE))
    (broken, why), *others = checks
    return reduce(
        lambda chosen, check: chosen.when(check[0], check[1]), others, F.when(broken, why)
    )


def texts(fields: Sequence[Field], parents: tuple[str, ...] = (EVENT,)) -> Iterator[Column]:
    """Whether each string is one: Spark takes any bytes, and all other readers refuse them.

    Of the items of an array at once: a "/" between two of them ends what the first began.
    """
    for field in fields:
        path = (*parents, field.name)
        if field.type == "string":
            found = F.col(".".join(path))
            text = found if parents == (EVENT,) else F.array_join(found, "/")
            yield F.coalesce(F.is_valid_utf8(text), F.lit(True))
        yield from texts(field.fields, path)


def key(contract: Contract) -> Column:
    return F.concat_ws("/", *[F.col(f"{EVENT}.{field}").cast("string") for field in contract.key])


def if_accepted(value: Column, otherwise: Column) -> Column:
    return F.when(F.col("_reason").isNull(), value).otherwise(otherwise)
