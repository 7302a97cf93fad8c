"""Optimizes the plan of a live query once, instead of anew in each of its batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame

EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
"""The option for the optimizer's rules that a session leaves out."""


@contextmanager
def optimize_once(rows: DataFrame) -> Iterator[DataFrame]:
    """The same rows by a plan that Spark's optimizer has been over, to be started inside.

    Spark optimizes the plan of a stream anew for each batch, and finds the same each time. A query
    that starts inside leaves out every rule that it can do without; others of the session do not,
    since Spark copies the session's options for a query at its start. What a rule would replace by
    the time of a batch, as `current_timestamp`, stays what it was when the query began: no plan
    may ask for it so.

    `rows`: a stream. It has been built with the session's options, which excluded no rule.
    """
    spark = rows.sparkSession
    assert spark._jvm is not None, "a session that is in use has its Java"
    sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession
    optimizer = spark._jsparkSession.sessionState().optimizer()
    # The optimizer has the options of the session that is active in this thread, whichever it is.
    sessions.setActiveSession(spark._jsparkSession)
    plan = optimizer.execute(rows._jdf.queryExecution().analyzed())
    dataset = spark._jvm.org.apache.spark.sql.classic.Dataset
    spark.conf.set(EXCLUDED_RULES, ",".join(list_excludable(optimizer)))
    try:
        yield DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)
    finally:
        spark.conf.unset(EXCLUDED_RULES)


def list_excludable(optimizer: Any) -> list[str]:
    """The names of the rules without which a plan means the same, by Spark's own list."""
    batches = optimizer.defaultBatches()
    rules = [batches.apply(position).rules() for position in range(batches.size())]
    names = {each.apply(position).ruleName() for each in rules for position in range(each.size())}
    return sorted(names - set(optimizer.nonExcludableRules().mkString(",").split(",")))
