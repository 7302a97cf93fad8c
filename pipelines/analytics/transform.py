"""Makes the lines of receipts and refunds that the statements read."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipelines.common.pipeline import Extract
from pipelines.common.transform.columns import compute_amount

PRODUCT = {"unit_cost_cents": "unit_cost_cents", "measure": "product_measure"}
"""The columns of a line's product."""


def extract_lines(event: Column) -> Extract:
    """The lines of a receipt or a refund.

    It zips the arrays: Spark would run a lambda over an array outside generated code, at half the
    speed.
    """
    lines = event["lines"]
    return {
        "store_id": event["store_id"],
        "lines": F.arrays_zip(
            lines["sku"].alias("sku"),
            lines["units"].alias("units"),
            lines["unit_price_cents"].alias("unit_price_cents"),
            lines["measure"].alias("measure"),
        ),
    }


def build_line_columns() -> Mapping[str, Column]:
    """What a line came to, and what its units cost: null where nobody has said it.

    A cost per another measure than the line's is no cost of it.
    """
    units, measure = F.col("units"), F.col("measure")
    cost = compute_amount(units, F.col("unit_cost_cents"), measure)
    return {
        "amount_cents": compute_amount(units, F.col("unit_price_cents"), measure),
        "cost_cents": F.when(measure.eqNullSafe(F.col("product_measure")), cost),
    }
