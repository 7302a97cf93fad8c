"""From lines to contributions: the amounts that a line adds to rows of views."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from pipelines.common.pipeline import Contribution, Pipeline, View
from pipelines.common.transform import accounting
from pipelines.common.transform.accounting import is_accounting
from pipelines.common.transform.as_of_join import Versions, join_as_of
from pipelines.common.transform.deduplicate import WATERMARK_DELAY
from pipelines.common.transform.events import NEVER
from pipelines.common.transform.extract import list_as_of_columns
from pipelines.common.transform.lines import create_array, explode_lines, name_first

VIEW = "_view"
"""The number of a contribution's view, if views declare contributions."""

UNTIL = "_until"
"""The end of the interval of the contribution's row, if rows have one."""


def build_contributions(pipeline: Pipeline, extracts: DataFrame, versions: Versions) -> DataFrame:
    """One row per contribution of an accepted event, and one accounting row per record.

    A contribution has the columns that `Pipeline.aggregates` may use; VIEW where views declare
    contributions; UNTIL where rows end.
    """
    lines = explode_lines(pipeline, extracts)
    if not list_as_of_columns(pipeline, extracts):
        for dimension in pipeline.dimensions:
            lines = join_as_of(lines, dimension, versions[dimension])
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
    """One row per contribution, with the columns that those of any view have, and accounting."""
    types = find_column_types(lines, [one for _, of_view in declared for one in of_view])
    wanted = [
        F.when(is_contributing(view, one), to_struct(number, view, one.columns, types))
        for number, (view, of_view) in enumerate(declared)
        for one in of_view
    ]
    kind = create_array(lines.select(F.array(*wanted).alias("_")).schema["_"].dataType)
    empty = F.array(F.lit(None).cast(kind.elementType))
    of_line = F.when(is_accounting(), empty).otherwise(F.array(*wanted))
    shared = [*accounting.KEY, "_published", "_applied", *({"event_time"} - types.keys())]
    return (
        lines.select(*shared, F.explode(of_line).alias("_contribution"))
        .where(is_accounting() | F.col("_contribution").isNotNull())
        .select(*shared, "_contribution.*")
        .withColumn(UNTIL, compute_end(F.col(UNTIL)))
    )


def find_column_types(lines: DataFrame, declared: Sequence[Contribution]) -> Mapping[str, DataType]:
    """The columns of all these contributions. Those of one name should have one type."""
    named = {name: of for one in declared for name, of in one.columns.items()}
    selected = lines.select(*[of.alias(name) for name, of in named.items()])
    return {field.name: field.dataType for field in selected.schema}


def is_contributing(view: View, contribution: Contribution) -> Column:
    """Whether a line adds this contribution to the view."""
    adds = ~is_accounting()
    if contribution.when is not None:
        adds &= contribution.when
    return adds if view.ends is None else adds & ~F.col("_released")


def to_struct(
    number: int, view: View, columns: Mapping[str, Column], types: Mapping[str, DataType]
) -> Column:
    """The contribution to the view with this number, with the columns of all contributions."""
    ends = F.lit(NEVER) if view.ends is None else columns[view.ends]
    return F.struct(
        F.lit(number).alias(VIEW),
        ends.alias(UNTIL),
        F.col(name_first(number)).alias("first_of_event"),
        *[columns.get(name, F.lit(None).cast(kind)).alias(name) for name, kind in types.items()],
    )


def compute_end(ends: Column) -> Column:
    """The time after which Spark treats a row as closed; an accounting row never closes."""
    never = F.when(is_accounting(), F.lit(NEVER)).otherwise(ends)
    return never.alias(UNTIL, metadata={WATERMARK_DELAY: 0})


def is_of(pipeline: Pipeline, number: int) -> Column:
    """Whether a row, if it is no accounting row, is of the view with this number."""
    return F.lit(True) if len(pipeline.views) == 1 else F.col(VIEW) == number
