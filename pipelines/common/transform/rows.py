"""From lines to rows and records: what a line adds to rows of views, their sums, and changelogs."""

import json
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from pyspark.sql.types import DataType

from contracts import BOOKS, Contract, build_avro_schema, get_schema_id
from pipelines.common.pipeline import Contribution, Pipeline, View
from pipelines.common.transform import accounting
from pipelines.common.transform.accounting import is_accounting
from pipelines.common.transform.columns import choose
from pipelines.common.transform.lines import WATERMARK_DELAY, create_array, name_first
from pipelines.common.transform.validate import NEVER

VIEW = "_view"
"""The number of a contribution's view, if several views declare contributions."""

UNTIL = "_until"
"""The end of the interval of the contribution's row, if rows have one."""


def contribute(pipeline: Pipeline, lines: DataFrame) -> DataFrame:
    """One row per contribution of an accepted event, and one accounting row per record.

    A contribution has the columns that `Pipeline.aggregates` may use; VIEW where several views
    declare contributions; UNTIL where rows end.
    """
    if added := pipeline.line_columns():
        lines = lines.withColumns({**added})
    declared = [(view, view.contributions()) for view in pipeline.views if view.contributions]
    if declared:
        return explode_contributions(declared, lines)
    (view,) = pipeline.views
    if view.ends is None:
        return lines
    counts = lines.where(is_accounting() | ~F.col("_released"))
    return counts.withColumn(UNTIL, compute_end(F.col(view.ends)))


def explode_contributions(
    declared: Sequence[tuple[View, Sequence[Contribution]]], lines: DataFrame
) -> DataFrame:
    """One row per contribution, and accounting.

    A row has the columns of the line, and those of the contributions to any view in their place.
    """
    types = find_column_types(
        lines, [contribution for _, of_view in declared for contribution in of_view]
    )
    several = len(declared) > 1
    wanted = [
        F.when(
            is_contributing(view, contribution),
            to_struct(contribution.columns, types, number if several else None),
        )
        for number, (view, of_view) in enumerate(declared)
        for contribution in of_view
    ]
    kind = create_array(lines.select(F.array(*wanted).alias("_")).schema["_"].dataType)
    empty = F.array(F.lit(None).cast(kind.elementType))
    of_line = F.when(is_accounting(), empty).otherwise(F.array(*wanted))
    kept = [name for name in lines.columns if name not in types]
    exploded = (
        lines.select(*kept, F.explode(of_line).alias("_contribution"))
        .where(is_accounting() | F.col("_contribution").isNotNull())
        .select(*kept, "_contribution.*")
    )
    ends = [F.lit(NEVER) if view.ends is None else F.col(view.ends) for view, _ in declared]
    return exploded.withColumns({**derive(declared)}).withColumn(
        UNTIL, compute_end(choose_by_view(ends))
    )


def find_column_types(lines: DataFrame, declared: Sequence[Contribution]) -> Mapping[str, DataType]:
    """The columns of all these contributions. Those of one name should have one type."""
    named = {name: of for contribution in declared for name, of in contribution.columns.items()}
    selected = lines.select(*[of.alias(name) for name, of in named.items()])
    return {field.name: field.dataType for field in selected.schema}


def is_contributing(view: View, contribution: Contribution) -> Column:
    """Whether a line, if it is no accounting line, adds this contribution to the view."""
    adds = F.lit(True) if contribution.when is None else contribution.when
    return adds if view.ends is None else adds & ~F.col("_released")


def to_struct(
    columns: Mapping[str, Column], types: Mapping[str, DataType], number: int | None
) -> Column:
    """A contribution with the columns of all, and the number of its view if there are several."""
    view = [] if number is None else [F.lit(number).alias(VIEW)]
    return F.struct(
        *view,
        *[columns.get(name, F.lit(None).cast(kind)).alias(name) for name, kind in types.items()],
    )


def derive(declared: Sequence[tuple[View, Sequence[Contribution]]]) -> Mapping[str, Column]:
    """The columns that views derive from a contribution, and whether it is the first of its event
    and key.
    """
    derived = [view.derived() for view, _ in declared]
    own = [
        {name for contribution in of_view for name in contribution.columns}
        for _, of_view in declared
    ]
    names = dict.fromkeys(name for of_view in derived for name in of_view)
    return {
        **{
            name: choose_by_view(
                [
                    of_view.get(name, F.col(name) if name in contributed else None)
                    for of_view, contributed in zip(derived, own, strict=True)
                ]
            )
            for name in names
        },
        "first_of_event": choose_by_view(
            [F.col(name_first(number)) for number in range(len(declared))]
        ),
    }


def choose_by_view(columns: Sequence[Column | None]) -> Column:
    """Of these columns, one for each view, that of a row's view; null where there is none."""
    if len(columns) == 1 and columns[0] is not None:
        return columns[0]
    return choose(
        (F.col(VIEW) == number, each) for number, each in enumerate(columns) if each is not None
    )


def compute_end(ends: Column) -> Column:
    """The time after which Spark treats a row as closed; an accounting row never closes."""
    never = F.when(is_accounting(), F.lit(NEVER)).otherwise(ends)
    return never.alias(UNTIL, metadata={WATERMARK_DELAY: 0})


def is_of(pipeline: Pipeline, number: int) -> Column:
    """Whether a row, if it is no accounting row, is of the view with this number."""
    return F.lit(True) if len(pipeline.views) == 1 else F.col(VIEW) == number


def select_view_rows(pipeline: Pipeline, every: DataFrame, number: int) -> DataFrame:
    """The rows of the view with this number, with the fields of its contract as columns."""
    wanted = is_of(pipeline, number) & ~is_accounting()
    return every.where(wanted).select(*[field.name for field in pipeline.writes[number].fields])


def aggregate(pipeline: Pipeline, contributed: DataFrame) -> DataFrame:
    """One row per key of a view, and one accounting row per topic and partition.

    `is_accounting` and `is_of` tell them apart. A row has the fields of its view's contract; an
    accounting row has the columns of `accounting.build_aggregates`.
    """
    keys = dict.fromkeys(name for view in pipeline.views for name in view.group_columns)
    of_view = [name for name in (VIEW, UNTIL) if name in contributed.columns]
    every = {**pipeline.aggregates(), **accounting.build_aggregates()}
    aggregates = contributed.groupBy(*accounting.KEY, *of_view, *keys).agg(
        *[column.alias(name) for name, column in every.items()]
    )
    rows = pipeline.to_rows(keep(aggregates, pipeline.may_be_row))
    return keep(rows, pipeline.is_row)


def keep(rows: DataFrame, condition: Callable[[], Column] | None) -> DataFrame:
    """The accounting rows, and the other rows that meet the condition, with the same columns."""
    return rows if condition is None else rows.where(is_accounting() | condition())


def encode_changelog(
    pipeline: Pipeline, generation: int, outputs: Mapping[str, str], rows: DataFrame
) -> DataFrame:
    """The rows as records: `topic`, `key`, `value`. A second write of one changes nothing.

    `generation`: its number. `outputs`: view name → its topic.
    """
    kinds = [
        (is_accounting(), BOOKS, accounting.build_fields(pipeline.name, generation)),
        *[
            (
                is_of(pipeline, number),
                view,
                {field.name: F.col(field.name) for field in view.fields},
            )
            for number, view in enumerate(pipeline.writes)
        ],
    ]
    return rows.select(
        choose([(is_kind, F.lit(outputs[view.name])) for is_kind, view, _ in kinds]).alias("topic"),
        choose([(is_kind, encode_key(view, row)) for is_kind, view, row in kinds]).alias("key"),
        choose([(is_kind, encode_value(view, row)) for is_kind, view, row in kinds]).alias("value"),
    )


def encode_key(contract: Contract, fields: Mapping[str, Column]) -> Column:
    """The record's key as text; see contracts/codec.py."""
    parts = [
        F.unix_millis(fields[name]) if name in contract.times else fields[name]
        for name in contract.key
    ]
    return F.concat_ws("/", *[part.cast("string") for part in parts])


def encode_value(contract: Contract, fields: Mapping[str, Column]) -> Column:
    struct = F.struct(*[fields[field.name].alias(field.name) for field in contract.fields])
    body = to_avro(struct, json.dumps(build_avro_schema(contract)))
    frame = bytearray(b"\0" + get_schema_id(contract).to_bytes(4, "big"))  # of Confluent
    return F.concat(F.lit(frame), body)
