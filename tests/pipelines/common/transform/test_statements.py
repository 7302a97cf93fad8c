"""A statement that does not fit its contract is refused, and says what was expected."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from contracts import CONTRACTS, Contract
from pipelines.common.transform.full_sums import SUMS_IN_FULL
from pipelines.common.transform.statements import BadStatement, load_view

SALES = CONTRACTS["public.analytics.store-sales.v1"]
MINUTES = "tumbling(event_time, INTERVAL 1 MINUTE)"
HOPPING = "hopping(event_time, INTERVAL 1 HOUR, INTERVAL 7 MINUTES)"
MARGIN = "units * (unit_price_cents - unit_cost_cents) AS margin"
GOOD = """
SELECT store_id, tumbling(event_time, INTERVAL 1 MINUTE) AS window_start, 1 AS receipts, units,
       0 AS revenue_cents, 0 AS margin_cents, 0 AS units_without_cost
FROM line
"""


def load_statement(folder: Path, sql: str, contract: Contract = SALES) -> None:
    file = folder / "store-sales.sql"
    file.write_text(sql)
    load_view(file, contract)


def test_a_statement_that_says_what_the_contract_asks_for_is_a_view(tmp_path: Path) -> None:
    load_statement(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("0 AS margin_cents, ", "", "the columns margin_cents, receipts"),
        ("1 AS receipts", "1 AS tills", "the columns margin_cents, receipts"),
        ("FROM line", "FROM receipt", "FROM line"),
        ("FROM line", "FROM line, line AS other", "FROM line"),
        (MINUTES, "event_time", "one window"),
        (MINUTES, HOPPING, "whole steps"),
        ("INTERVAL 1 MINUTE", "INTERVAL 1 MONTH", "minutes, hours or days"),
        ("INTERVAL 1 MINUTE", "60", "minutes, hours or days"),
        ("FROM line", "FROM line UNION ALL " + GOOD, "one SELECT"),
        ("FROM line", "FROM (", "a statement of Spark's SQL"),
        ("0 AS rev", "units * unit_price_cents AS rev", "amount_cents of the line, but has units"),
        ("0 AS margin", MARGIN, "amount_cents and cost_cents of the line"),
    ],
)
def test_a_statement_that_does_not_fit_is_refused(
    tmp_path: Path, before: str, after: str, expected: str
) -> None:
    with pytest.raises(BadStatement, match=expected):
        load_statement(tmp_path, GOOD.replace(before, after))


@pytest.mark.parametrize("minutes", [23, 24, 25, 240])
def test_a_line_lies_in_so_many_windows_and_no_more(tmp_path: Path, minutes: int) -> None:
    hopping = f"hopping(event_time, INTERVAL {minutes} MINUTES, INTERVAL 1 MINUTE)"
    allowed = nullcontext() if minutes <= 24 else pytest.raises(BadStatement, match="1 to 24 whole")
    with allowed:
        load_statement(tmp_path, GOOD.replace(MINUTES, hopping))


def test_a_contract_with_sums_of_cents_says_where_those_beyond_64_bits_are(tmp_path: Path) -> None:
    fields = tuple(field for field in SALES.fields if field.name != SUMS_IN_FULL)
    with pytest.raises(BadStatement, match="the field sums_in_full in its contract, but has sums"):
        load_statement(tmp_path, GOOD, replace(SALES, fields=fields))
