"""Sums as a row of a view says them: as far as 64 bits go, and in full where they go no further."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

LEAST, MOST = -(2**63), 2**63 - 1


def fit_sums(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a query, in which a sum of any size is a decimal, as the view's contract has it.

    Where there is such a sum, the row has `sums_in_full`: None, or those beyond 64 bits.
    """
    sums = {name: int(value) for name, value in row.items() if isinstance(value, Decimal)}
    if not sums:
        return dict(row)
    beyond = [
        {"name": name, "digits": str(found)}
        for name, found in sums.items()
        if not LEAST <= found <= MOST
    ]
    held = {name: min(max(found, LEAST), MOST) for name, found in sums.items()}
    return {**row, **held, "sums_in_full": beyond or None}
