"""What a line comes to, and sums beyond 64 bits, in the oracles."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

AMOUNT = """
create macro amount(units, cents, measure) as
    case
        when measure is null then units::bigint * cents
        else (units::bigint * cents + 500) // 1000
    end
"""
"""With it queries can call `amount(units, cents, measure)`: cents, rounded half up where units are
thousandths of a measure; null without units or cents. It is the one place in SQL that multiplies
units by a price."""

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
