"""From events to rows: deduplicate, spread into entries, add up; and keep the books.

All of it is generated code in Spark: one lambda over an array in here halves the rate.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from contracts import RELEASES, Contract
from infra.settings import Settings
from pipelines.common.declared import declared_events
from pipelines.common.events import META, NEVER, by_topic, column, events
from pipelines.common.pipeline import AsOf, Entry, Pipeline, View
from pipelines.common.sides import columns
from pipelines.common.small_batches import held, validated_events
from pipelines.common.watermark import Pace

IDENTITY = ("_topic", "_partition", "_reason", "_identity")
"""What makes two records the same one. A rejected record is the same as no other."""

TASKS = 2
"""How many tasks of a batch read."""

SMALL_TASKS = 1
"""The same of a small batch: another one costs it more than it shares out."""

WATERMARK_DELAY = "spark.watermarkDelayMs"
"""In a column's metadata: Spark frees what is older by it than the watermark, in milliseconds."""

BOOK = ("_topic", "_partition")
"""The key of an entry in the books; null in every other entry."""

VIEW = "_view"
"""The number of the view that an entry is for, where a pipeline has several."""

UNTIL = "_until"
"""When the interval of the entry's row is over, where rows have one."""

Sides = Mapping[AsOf, DataFrame]
"""The facts of each side: its topic's key, its columns, and `_since` and `_before`, the first
moment at which they hold and the first at which they hold no longer."""


def rows(
    pipeline: Pipeline, records: DataFrame, sides: Sides | None = None, number: int = 0
) -> DataFrame:
    """The view of that number over a static frame of records: a row per key, as in its contract."""
    return view_rows(pipeline, static_totals(pipeline, records, sides or {}), number)


def static_totals(
    pipeline: Pipeline, records: DataFrame, sides: Sides, small: Settings | None = None
) -> DataFrame:
    """The rows of all views and the books, over a static frame of records.

    With `small` settings as in `running_rows`.
    """
    first_copies = postings(pipeline, records, small).dropDuplicates([*IDENTITY])
    return add_up(pipeline, entries(pipeline, first_copies, sides))


def view_rows(pipeline: Pipeline, totals: DataFrame, number: int) -> DataFrame:
    """The rows of the view of that number, with the fields of its contract."""
    wanted = is_of(pipeline, number) & ~is_book()
    return totals.where(wanted).select(*[field.name for field in pipeline.writes[number].fields])


def running_rows(
    pipeline: Pipeline, records: DataFrame, now: Pace, sides: Sides, small: Settings | None = None
) -> DataFrame:
    """The rows that a batch of a stream changes, those of the books among them.

    The newest heartbeat moves the watermark: no record of somebody whose clock is ahead does. An
    event's id is remembered until a heartbeat is `now.memory` of world time younger than it. An
    event that happened longer than that before the heartbeats of earlier batches would be dropped
    by Spark, and counted.
    """
    tasks = TASKS if small is None else SMALL_TASKS
    delay = f"{int(now.memory.total_seconds() * 1000)} milliseconds"
    posted = postings(pipeline, records.coalesce(tasks), small).withWatermark("_beat", delay)
    # Spark remembers an id for the delay in this metadata, counted by the watermark.
    clock = F.col("_clock").alias("_clock", metadata={WATERMARK_DELAY: 0})
    kept = [
        clock if name == "_clock" else F.col(name) for name in posted.columns if name != "_beat"
    ]
    first_copies = posted.select(*kept).dropDuplicatesWithinWatermark([*IDENTITY])
    return add_up(pipeline, entries(pipeline, first_copies, sides))


def postings(pipeline: Pipeline, records: DataFrame, small: Settings | None = None) -> DataFrame:
    """One row per record: the columns of META, and what it posts; a rejected one has no lines.

    With `small` settings there are the columns too that hold what held beside its lines.
    """
    if small is None:
        read = declared_events(pipeline, events(pipeline.reads, records))
    else:
        read = validated_events(pipeline, records, small)
    posted = {topic: post(F.col(column(topic))) for topic, post in pipeline.posts.items()}
    names = next(iter(posted.values()))
    return read.select(
        *META,
        *[
            by_topic("_of", {topic: posting[name] for topic, posting in posted.items()}).alias(name)
            for name in names
        ],
        *held_columns(pipeline, read),
    )


def held_columns(pipeline: Pipeline, frame: DataFrame) -> list[str]:
    """The columns with what held beside the lines, where the frame has them."""
    named = [held(number) for number in range(len(pipeline.sides))]
    return [name for name in named if name in frame.columns]


def entries(pipeline: Pipeline, posted: DataFrame, sides: Sides) -> DataFrame:
    """One row per entry of an accepted event, and one per record for the books."""
    spread = lines(pipeline, posted)
    if not held_columns(pipeline, posted):
        for side in pipeline.sides:
            spread = beside(spread, side, sides[side])
    if entering := [(view, view.entries()) for view in pipeline.views if view.entries]:
        return entered(entering, spread)
    (view,) = pipeline.views
    if view.ends is None:
        return spread
    counts = spread.where(is_book() | ~F.col("_released"))
    return counts.withColumn(UNTIL, until(F.col(view.ends)))


def lines(pipeline: Pipeline, posted: DataFrame) -> DataFrame:
    """One row per line of an accepted event, and one per record for the books.

    The books' is one more, empty line: a branch of its own would deduplicate twice.
    """
    kind = line_type(posted)
    none = F.array().cast(kind)
    accepted = F.when(F.col("_reason").isNull(), F.coalesce("lines", none)).otherwise(none)
    empty = F.array(F.lit(None).cast(kind.elementType))
    spread = posted.select("*", F.posexplode(F.concat(accepted, empty)).alias("_position", "_line"))
    of_book = F.col("_line").isNull()
    beside_lines = held_columns(pipeline, posted)
    shared = [name for name in posted.columns if name not in (*META, "lines", *beside_lines)]
    return spread.select(
        *[F.when(of_book, F.col(name)).alias(name) for name in BOOK],
        F.when(of_book, F.col("_published")).alias("_published"),
        F.when(of_book, F.col("_reason").isNull()).alias("_applied"),
        *[F.when(~of_book, F.col(name)).alias(name) for name in (*shared, "event_time")],
        F.col("_line.*"),
        *[
            F.get(name, F.col("_position"))[column.name].alias(column.name)
            for name, side in zip(beside_lines, pipeline.sides, strict=bool(beside_lines))
            for column in columns(side)
        ],
        F.col("_published").alias("published"),
        F.col("_of").alias("topic"),
        (F.col("_topic") == RELEASES.name).alias("_released"),
        F.col("_position").cast("long").alias("line"),
        (F.col("_position") == 0).alias("first_line"),
        *[
            first_of_event(view.contract, line_fields(posted)).alias(first_name(number))
            for number, view in enumerate(pipeline.views)
        ],
    )


def first_name(view: int) -> str:
    return "first_of_event" if view == 0 else f"_first_{view}"


def first_of_event(view: Contract, of_line: list[str]) -> Column:
    """Whether no earlier line of the event has the same key; of no meaning in the books."""
    own = [name for name in view.key if name in of_line]
    if not own:
        return F.col("_position") == 0
    if len(own) == 1:
        first = F.array_position(F.col(f"lines.{own[0]}"), F.col(f"_line.{own[0]}"))
    else:
        keys = F.arrays_zip(*[F.col(f"lines.{name}") for name in own])
        first = F.array_position(keys, F.struct(*[F.col(f"_line.{name}") for name in own]))
    return F.col("_position") == first - 1


def beside(spread: DataFrame, side: AsOf, facts: DataFrame) -> DataFrame:
    """The lines, with what held of their key when it happened."""
    named = facts.withColumnsRenamed({name: f"_side_{name}" for name in side.topic.key})
    same = [F.col(name) == F.col(f"_side_{name}") for name in side.topic.key]
    held = (F.col("event_time") >= F.col("_since")) & (F.col("event_time") < F.col("_before"))
    joined = spread.join(F.broadcast(named), [*same, held], "left")
    return joined.drop("_since", "_before", *[f"_side_{name}" for name in side.topic.key])


def entered(entering: Sequence[tuple[View, Sequence[Entry]]], spread: DataFrame) -> DataFrame:
    """One row per entry, with the columns that the entries of any view have, and the books'."""
    types = column_types(spread, [entry for _, entries in entering for entry in entries])
    wanted = [
        F.when(enters(view, entry), entry_of(number, view, entry.columns, types))
        for number, (view, entries) in enumerate(entering)
        for entry in entries
    ]
    kind = array(spread.select(F.array(*wanted).alias("_")).schema["_"].dataType)
    of_book = F.array(F.lit(None).cast(kind.elementType))
    of_line = F.when(is_book(), of_book).otherwise(F.array(*wanted))
    shared = [*BOOK, "_published", "_applied", *({"event_time"} - types.keys())]
    return (
        spread.select(*shared, F.explode(of_line).alias("_entry"))
        .where(is_book() | F.col("_entry").isNotNull())
        .select(*shared, "_entry.*")
        .withColumn(UNTIL, until(F.col(UNTIL)))
    )


def column_types(spread: DataFrame, entries: Sequence[Entry]) -> Mapping[str, DataType]:
    """The columns of all these entries. Those of one name should have one type."""
    named = {name: of for entry in entries for name, of in entry.columns.items()}
    found = spread.select(*[of.alias(name) for name, of in named.items()])
    return {field.name: field.dataType for field in found.schema}


def enters(view: View, entry: Entry) -> Column:
    """Whether a line adds the entry to the view."""
    entering = ~is_book()
    if entry.when is not None:
        entering &= entry.when
    return entering if view.ends is None else entering & ~F.col("_released")


def entry_of(
    number: int, view: View, columns: Mapping[str, Column], types: Mapping[str, DataType]
) -> Column:
    ends = F.lit(NEVER) if view.ends is None else columns[view.ends]
    return F.struct(
        F.lit(number).alias(VIEW),
        ends.alias(UNTIL),
        F.col(first_name(number)).alias("first_of_event"),
        *[columns.get(name, F.lit(None).cast(kind)).alias(name) for name, kind in types.items()],
    )


def until(ends: Column) -> Column:
    """The moment by which Spark knows that a row is closed; the books are never."""
    never = F.when(is_book(), F.lit(NEVER)).otherwise(ends)
    return never.alias(UNTIL, metadata={WATERMARK_DELAY: 0})


def add_up(pipeline: Pipeline, entered: DataFrame) -> DataFrame:
    """One row per key of a view and one per book, told apart by `is_book` and `is_of`."""
    keys = dict.fromkeys(name for view in pipeline.views for name in view.groups)
    of_view = [name for name in (VIEW, UNTIL) if name in entered.columns]
    totals = entered.groupBy(*BOOK, *of_view, *keys).agg(
        *[total.alias(name) for name, total in pipeline.totals().items()],
        F.count_if("_applied").alias("_applied"),
        F.count_if(~F.col("_applied")).alias("_quarantined"),
        F.max("_published").alias("_published"),
    )
    return pipeline.finish(totals)


def is_book() -> Column:
    return F.col("_topic").isNotNull()


def is_of(pipeline: Pipeline, number: int) -> Column:
    """Whether a row that is no book is of the view of that number."""
    return F.lit(True) if len(pipeline.views) == 1 else F.col(VIEW) == number


def line_type(postings: DataFrame) -> ArrayType:
    return array(postings.schema["lines"].dataType)


def line_fields(postings: DataFrame) -> list[str]:
    line = line_type(postings).elementType
    if not isinstance(line, StructType):
        raise TypeError(f"A line should be a struct, found {line}.")
    return line.fieldNames()


def array(kind: DataType) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise TypeError(f"A posting's lines should be an array of structs, found {kind}.")
    return kind
