"""From extracts to lines: each event's lines, and one accounting line per record."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, IntegerType, StructField, StructType

from contracts import RELEASES, Contract
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform import accounting
from pipelines.common.transform.dimensions import line_columns
from pipelines.common.transform.events import META
from pipelines.common.transform.extract import as_of_columns


def explode_lines(pipeline: Pipeline, extracts: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one accounting row per record.

    A line has what its event's lines share, `event_time`, its own fields with whole numbers as
    longs (units times a price may need more than 32 bits), `published`, `topic`,
    `line` (its number), `first_line`, `_released` and `first_of_event` for each view. An accounting
    row has the columns of accounting; the columns of the other kind are null.
    """
    kind = line_type(extracts)
    none = F.array().cast(kind)
    accepted = F.when(F.col("_reason").isNull(), F.coalesce("lines", none)).otherwise(none)
    empty = F.array(F.lit(None).cast(kind.elementType))
    exploded = extracts.select(
        "*", F.posexplode(F.concat(accepted, empty)).alias("_position", "_line")
    )
    is_empty = F.col("_line").isNull()
    as_of = as_of_columns(pipeline, extracts)
    shared = [name for name in extracts.columns if name not in (*META, "lines", *as_of)]
    return exploded.select(
        *[F.when(is_empty, F.col(name)).alias(name) for name in accounting.KEY],
        F.when(is_empty, F.col("_published")).alias("_published"),
        F.when(is_empty, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~is_empty, F.col(name)).alias(name) for name in (*shared, "event_time")],
        *[whole(field).alias(field.name) for field in line_schema(extracts)],
        *[
            F.get(name, F.col("_position"))[column.name].alias(column.name)
            for name, dimension in zip(as_of, pipeline.dimensions, strict=bool(as_of))
            for column in line_columns(dimension)
        ],
        F.col("_published").alias("published"),
        F.col("_of").alias("topic"),
        (F.col("_topic") == RELEASES.name).alias("_released"),
        F.col("_position").cast("long").alias("line"),
        (F.col("_position") == 0).alias("first_line"),
        *[
            first_of_event(view.contract, line_fields(extracts)).alias(first_name(number))
            for number, view in enumerate(pipeline.views)
        ],
    )


def first_name(view: int) -> str:
    """The column that says of a line whether it is the first of its event in the view's row."""
    return "first_of_event" if view == 0 else f"_first_{view}"


def first_of_event(view: Contract, of_line: list[str]) -> Column:
    """Whether no earlier line of the event has the same key; meaningless in accounting rows."""
    own = [name for name in view.key if name in of_line]
    if not own:
        return F.col("_position") == 0
    if len(own) == 1:
        first = F.array_position(F.col(f"lines.{own[0]}"), F.col(f"_line.{own[0]}"))
    else:
        keys = F.arrays_zip(*[F.col(f"lines.{name}") for name in own])
        first = F.array_position(keys, F.struct(*[F.col(f"_line.{name}") for name in own]))
    return F.col("_position") == first - 1


def line_type(extracts: DataFrame) -> ArrayType:
    return array(extracts.schema["lines"].dataType)


def line_schema(extracts: DataFrame) -> StructType:
    line = line_type(extracts).elementType
    if not isinstance(line, StructType):
        raise TypeError(f"A line should be a struct, found {line}.")
    return line


def line_fields(extracts: DataFrame) -> list[str]:
    return line_schema(extracts).fieldNames()


def whole(field: StructField) -> Column:
    """A field of a line; a whole number of 32 bits becomes one of 64."""
    value = F.col(f"_line.{field.name}")
    return value.cast("long") if isinstance(field.dataType, IntegerType) else value


def array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"The lines of an extract should be an array of structs, found {kind}.")
    return kind
