"""From events to lines: the part of each event that the pipeline aggregates, line by line, and one
accounting line per record.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, IntegerType, StructField, StructType

from contracts import RELEASES, Contract
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.columns import choose
from pipelines.common.transform.first_lines import FirstLines
from pipelines.common.transform.validate import META, name_column

Key = tuple[str, ...]


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


def explode_lines(pipeline: Pipeline, extracts: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one accounting row per record.

    A line has the shared values of its event's lines, `event_time`, its own fields with whole
    numbers as longs (units times a price may need more than 32 bits), `published`, `topic`,
    `line` (its number), `first_line`, `_released` and `first_of_event` for each view. An accounting
    row has the columns of accounting; the columns of the other kind are null.
    """
    events, firsts = extracts, find_first_lines(pipeline, extracts)
    for each in firsts.values():
        events = each.prepare(events)
    # The values of a line are exploded with it: to take them from an array afterwards would copy
    # the array for each line.
    found = {"line": "lines", **{each.previous: each.previous for each in firsts.values()}}
    items = F.arrays_zip(*[F.col(of).alias(name) for name, of in found.items()])
    kind = create_array(events.select(items.alias("_")).schema["_"].dataType)
    none = F.array().cast(kind)
    accepted = F.when(F.col("_reason").isNull(), F.coalesce(items, none)).otherwise(none)
    empty = F.array(F.lit(None).cast(kind.elementType))
    exploded = events.select(
        "*", F.posexplode(F.concat(accepted, empty)).alias("_position", "_item")
    )
    is_empty = F.col("_item.line").isNull()
    shared = [name for name in extracts.columns if name not in (*META, "lines")]
    return exploded.select(
        *[F.when(is_empty, F.col(name)).alias(name) for name in accounting.KEY],
        F.when(is_empty, F.col("_published")).alias("_published"),
        F.when(is_empty, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~is_empty, F.col(name)).alias(name) for name in (*shared, "event_time")],
        *[widen_integer(field).alias(field.name) for field in build_line_schema(extracts)],
        F.col("_published").alias("published"),
        F.col("_of").alias("topic"),
        (F.col("_topic") == RELEASES.name).alias("_released"),
        F.col("_position").cast("long").alias("line"),
        (F.col("_position") == 0).alias("first_line"),
        *[
            is_first_of_event(firsts.get(select_own_key(view.contract, extracts))).alias(
                name_first(number)
            )
            for number, view in enumerate(pipeline.views)
        ],
    )


def name_first(view: int) -> str:
    """The column that marks the first line of an event in a row of the view."""
    return "first_of_event" if view == 0 else f"_first_{view}"


def find_first_lines(pipeline: Pipeline, extracts: DataFrame) -> Mapping[Key, FirstLines]:
    """The first lines, by the parts of the views' keys that are fields of a line."""
    keys = dict.fromkeys(select_own_key(view.contract, extracts) for view in pipeline.views)
    return {key: FirstLines(key, number) for number, key in enumerate(keys) if key}


def select_own_key(view: Contract, extracts: DataFrame) -> Key:
    """The fields of the view's key that are fields of a line."""
    of_line = build_line_schema(extracts).fieldNames()
    return tuple(name for name in view.key if name in of_line)


def is_first_of_event(first: FirstLines | None) -> Column:
    """Whether no earlier line of the event has the same key; meaningless in accounting rows."""
    if first is None:
        return F.col("_position") == 0
    return first.is_first("_position", "_item.line", f"_item.{first.previous}")


def build_line_schema(extracts: DataFrame) -> StructType:
    line = create_array(extracts.schema["lines"].dataType).elementType
    if not isinstance(line, StructType):
        raise TypeError(f"A line should be a struct, found {line}.")
    return line


def widen_integer(field: StructField) -> Column:
    """The field of a line, a whole number of 32 bits as one of 64."""
    value = F.col(f"_item.line.{field.name}")
    return value.cast("long") if isinstance(field.dataType, IntegerType) else value


def create_array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"The lines of an extract should be an array of structs, found {kind}.")
    return kind
