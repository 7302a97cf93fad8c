"""The project's Java classes for Spark, compiled if necessary.

`python -m pipelines.common.runtime.compiled` compiles ahead, for an image whose folders nobody may
write to later.
"""

from pathlib import Path

import pyspark

from infra.jars import fetch_spark_jars
from infra.jars.compiler import compile_classes
from infra.settings import Settings, read_settings

SOURCES = Path(__file__).parent / "java"
STATE_STORE = "retail.state.AmortizedEviction"
"""The state store of every query."""
LEAN_PLAN = "retail.plan.LeanPlan"
"""The rules that Spark applies to every batch's plan."""
FUNCTIONS = "retail.aggregate.Functions"
"""The aggregates that every session knows beside Spark's."""
BATCHES_PER_WALK = "spark.sql.streaming.stateStore.batchesPerWalk"
"""The option with the number of batches from one search for expired state to the next."""
KNOWS_KEYS = "spark.sql.streaming.stateStore.knowsKeys"
"""The option whether a state keeps a filter of its ids in memory, of 16 MiB each."""


def ensure_class_jar(settings: Settings) -> Path:
    """The jar with the compiled classes, for Java's class path."""
    shipped = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    return compile_classes(SOURCES, settings.jars_dir, [*fetch_spark_jars(), *shipped])


if __name__ == "__main__":
    ensure_class_jar(read_settings())
