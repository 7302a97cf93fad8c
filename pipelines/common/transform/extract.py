"""From events to extracts: the parts of each event that the pipeline aggregates."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.choose import choose
from pipelines.common.transform.validate import META, name_column


def extract(pipeline: Pipeline, events: DataFrame) -> DataFrame:
    """One row per record: the columns of META, and the extract of its event.

    A rejected record has no lines.
    """
    extracts = {topic: of(F.col(name_column(topic))) for topic, of in pipeline.extracts.items()}
    names = next(iter(extracts.values()))
    return events.select(
        *META,
        *[
            choose(
                (F.col("_of") == topic.name, one[name]) for topic, one in extracts.items()
            ).alias(name)
            for name in names
        ],
    )
