"""From records to extracts: what each event says that its pipeline aggregates."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.as_of_join import as_of_column
from pipelines.common.transform.declared import declared_events
from pipelines.common.transform.events import META, by_topic, column, events
from pipelines.common.transform.small_batches import validated_events


def extract(pipeline: Pipeline, records: DataFrame, small: Settings | None = None) -> DataFrame:
    """One row per record: the columns of META, and the extract of its event.

    A rejected record has no lines. With `small` settings the records are read in Python, and the
    columns that `as_of_columns` names hold the dimension versions of the lines.
    """
    if small is None:
        read = declared_events(pipeline, events(pipeline.reads, records))
    else:
        read = validated_events(pipeline, records, small)
    extracts = {topic: of(F.col(column(topic))) for topic, of in pipeline.extracts.items()}
    names = next(iter(extracts.values()))
    return read.select(
        *META,
        *[
            by_topic("_of", {topic: one[name] for topic, one in extracts.items()}).alias(name)
            for name in names
        ],
        *as_of_columns(pipeline, read),
    )


def as_of_columns(pipeline: Pipeline, frame: DataFrame) -> list[str]:
    """The columns with the dimension versions of the lines, where the frame has them."""
    named = [as_of_column(number) for number in range(len(pipeline.dimensions))]
    return [name for name in named if name in frame.columns]
