"""Sums beyond 64 bits, in the oracles."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

LEAST, MOST = -(2**63), 2**63 - 1


def fit_sums(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a query in the form of the view's contract; in the query a sum is a decimal.

    A row with sums gets `sums_in_full`: the sums beyond 64 bits, or None.
    """
    sums = {name: int(value) for name, value in row.items() if isinstance(value, Decimal)}
    if not sums:
        return dict(row)
    beyond = [
        {"name": name, "digits": str(total)}
        for name, total in sums.items()
        if not LEAST <= total <= MOST
    ]
    clipped = {name: min(max(total, LEAST), MOST) for name, total in sums.items()}
    return {**row, **clipped, "sums_in_full": beyond or None}
