"""Which field of a view says that what a row tells of is over."""

import pytest

from contracts import DAILY_DEMAND, PROPOSALS, STOCK_LEVELS, STORE_SALES, Contract
from services.api.store.finality import find_end_field


@pytest.mark.parametrize(
    ("view", "end"),
    [
        (STORE_SALES, "window_end"),
        (DAILY_DEMAND, "day_end"),
        (PROPOSALS, "review_at"),
        (STOCK_LEVELS, None),
    ],
)
def test_a_window_ends_where_its_contract_says_and_stock_never(
    view: Contract, end: str | None
) -> None:
    assert find_end_field(view) == end
