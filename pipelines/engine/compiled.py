"""The project's Java classes for Spark, compiled if necessary.

`python -m pipelines.engine.compiled` compiles ahead, for an image whose folders nobody may
write to later.
"""

from pathlib import Path

import pyspark

from infra.jars import fetch_jars
from infra.jars.compiler import compile_classes
from infra.settings import Settings, read_settings

ENGINE = Path(__file__).parent
SOURCES = ENGINE / "java", ENGINE / "tuning" / "java"
FUNCTIONS = "retail.aggregate.Functions"
"""The aggregates that every session knows beside Spark's."""


def ensure_class_jar(settings: Settings) -> Path:
    """The jar with the compiled classes, for Java's class path."""
    shipped = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    return compile_classes(SOURCES, settings.jars_dir, [*fetch_jars("spark"), *shipped])


if __name__ == "__main__":
    ensure_class_jar(read_settings())
