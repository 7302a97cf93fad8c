"""From events to lines: the values that an event's lines share, its lines, and one accounting line
per record.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from contracts import RELEASES, Contract
from contracts.lines import LINES, Key, Line
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.columns import choose
from pipelines.common.transform.validate import META, name_column, name_mark


def extract(pipeline: Pipeline, events: DataFrame) -> DataFrame:
    """One row per record: the columns of META, `lines`, and the extract of its event."""
    extracts = {topic: of(F.col(name_column(topic))) for topic, of in pipeline.extracts.items()}
    names = next(iter(extracts.values()))
    return events.select(
        *META,
        LINES,
        *[
            choose(
                (F.col("_of") == topic.name, columns[name]) for topic, columns in extracts.items()
            ).alias(name)
            for name in names
        ],
    )


def explode_lines(pipeline: Pipeline, line: Line, extracts: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one accounting row per record.

    A line has the extract of its event, `event_time`, its own fields with whole numbers as longs
    (units times a price may need more than 32 bits), `published`, `topic`, `line` (its number),
    `first_line`, `_released` and `first_of_event` for each view. An accounting row has the columns
    of accounting; the columns of the other kind are null.
    """
    kind = create_array(extracts.schema[LINES].dataType)
    lines = F.coalesce(LINES, F.array().cast(kind))
    empty = F.array(F.lit(None).cast(kind.elementType))
    exploded = extracts.select(
        "*", F.posexplode(F.concat(lines, empty)).alias("_position", "_line")
    )
    is_empty = F.col("_line").isNull()
    shared = [name for name in extracts.columns if name not in (*META, LINES)]
    return exploded.select(
        *[F.when(is_empty, F.col(name)).alias(name) for name in accounting.KEY],
        F.when(is_empty, F.col("_published")).alias("_published"),
        F.when(is_empty, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~is_empty, F.col(name)).alias(name) for name in (*shared, "event_time")],
        *[F.col(f"_line.{field.name}").alias(field.name) for field in line.fields],
        F.col("_published").alias("published"),
        F.col("_of").alias("topic"),
        (F.col("_topic") == RELEASES.name).alias("_released"),
        F.col("_position").cast("long").alias("line"),
        (F.col("_position") == 0).alias("first_line"),
        *[
            is_first_of_event(select_own_key(view.contract, line)).alias(name_first(number))
            for number, view in enumerate(pipeline.views)
        ],
    )


def name_first(view: int) -> str:
    """The column that marks the first line of an event in a row of the view."""
    return "first_of_event" if view == 0 else f"_first_{view}"


def select_own_key(view: Contract, line: Line) -> Key:
    """The fields of the view's key that are fields of a line."""
    of_line = {field.name for field in line.fields}
    return tuple(name for name in view.key if name in of_line)


def is_first_of_event(key: Key) -> Column:
    """Whether no earlier line of the event has the same key; meaningless in accounting rows."""
    return F.col(f"_line.{name_mark(key)}") if key else F.col("_position") == 0


def create_array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"An array of structs is expected, found {kind}.")
    return kind
