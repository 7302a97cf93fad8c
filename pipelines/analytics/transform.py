"""What the statements read of a line of a receipt or a refund."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipelines.common.pipeline import Extract
from pipelines.common.transform.columns import compute_amount

PRODUCT = {"unit_cost_cents": "unit_cost_cents", "measure": "product_measure"}
"""The columns of a line's product."""


def extract_store(event: Column) -> Extract:
    return {"store_id": event["store_id"]}


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
