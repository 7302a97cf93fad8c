"""From records to extracts: the parts of each event that the pipeline aggregates."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.as_of_join import name_as_of_column
from pipelines.common.transform.declared import select_declared
from pipelines.common.transform.events import META, choose_by_topic, name_column, validate_events
from pipelines.common.transform.small_batches import validate_batch


def extract(pipeline: Pipeline, records: DataFrame, small: Settings | None = None) -> DataFrame:
    """One row per record: the columns of META, and the extract of its event.

    A rejected record has no lines. With `small` settings Python reads the records, and the columns
    that `list_as_of_columns` names hold the dimension versions of the lines.
    """
    if small is None:
        read = select_declared(pipeline, validate_events(pipeline.reads, records))
    else:
        read = validate_batch(pipeline, records, small)
    extracts = {topic: of(F.col(name_column(topic))) for topic, of in pipeline.extracts.items()}
    names = next(iter(extracts.values()))
    return read.select(
        *META,
        *[
            choose_by_topic("_of", {topic: one[name] for topic, one in extracts.items()}).alias(
                name
            )
            for name in names
        ],
        *list_as_of_columns(pipeline, read),
    )


def list_as_of_columns(pipeline: Pipeline, frame: DataFrame) -> list[str]:
    """The columns with the dimension versions of the lines, if the frame has them."""
    named = [name_as_of_column(number) for number in range(len(pipeline.dimensions))]
    return [name for name in named if name in frame.columns]
