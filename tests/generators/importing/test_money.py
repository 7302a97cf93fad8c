"""The lines of a row come to its amount, to the cent, and have its units."""

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.generators.importing.outcomes import bring_in

MAPPING = """
time: {column: When, zone: UTC}
receipt: {by: [Receipt], discount: Order less}
cancelled: {negative_units: true}
fields: {sku: Article, units: Qty, amount: Amount, discount: Less, measure: Sold by,
  store: {value: L}}
money: {currency: EUR}
"""
HEAD = "Receipt,When,Article,Qty,Amount,Less,Order less,Sold by\n"
Line = dict[str, Any]


def write_rows(*rows: tuple[object, ...]) -> str:
    return HEAD + "".join(
        f"{receipt},2024-03-01 09:{place:02},A-{place},{','.join(map(str, cells))}\n"
        for place, (receipt, *cells) in enumerate(rows)
    )


def find_cents(line: Line) -> int:
    """What the contract says that a line comes to."""
    product = int(line["units"] * line["unit_price_cents"])
    return product if line.get("measure") is None else (product + 500) // 1000


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((1, 3, "1.00", "", "", "piece"), [(2, 33), (1, 34)]),
        ((1, 3, "0.99", "", "", "piece"), [(3, 33)]),
        ((1, 3, "0.02", "", "", "piece"), [(1, 0), (2, 1)]),
        ((1, -3, "-1.00", "", "", "piece"), [(2, 33), (1, 34)]),
        ((1, 3, "1.25", "0.25", "", "piece"), [(2, 33), (1, 34)]),
        ((1, 3, "2.00", "", "1.00", "piece"), [(2, 33), (1, 34)]),
        ((1, "0.350", "2.99", "", "", "kilogram"), [(350, 854)]),
        ((1, "12.001", "10.00", "", "", "metre"), [(8084, 83), (3917, 84)]),
        ((1, "2.250", "0.03", "", "", "litre"), [(1501, 1), (749, 2)]),
    ],
)
def test_a_row_that_one_price_does_not_divide_becomes_two_lines(
    tmp_path: Path, row: tuple[object, ...], expected: list[tuple[int, int]]
) -> None:
    found = bring_in(tmp_path, MAPPING, **{"a.csv": write_rows(row)})
    [event] = found.receipts + found.refunds
    lines = event["lines"]
    assert [(line["units"], line["unit_price_cents"]) for line in lines] == expected


@pytest.mark.parametrize(
    ("rounding", "amount", "expected"),
    [("half-up", "1.0050", 101), ("half-even", "1.0050", 100), ("down", "1.0099", 100)],
)
def test_an_amount_is_rounded_as_the_mapping_says(
    tmp_path: Path, rounding: str, amount: str, expected: int
) -> None:
    mapping = MAPPING.replace("currency: EUR", f"currency: EUR, rounding: {rounding}")
    mapping = mapping.replace("zone: UTC", "zone: Europe/Berlin")
    found = bring_in(tmp_path, mapping, **{"a.csv": write_rows((1, 1, amount, "", "", "piece"))})
    assert [line["unit_price_cents"] for line in found.receipts[0]["lines"]] == [expected]
    assert found.times == ["2024-03-01T08:00:00Z"]


def test_rows_of_one_receipt_lose_no_cent_by_their_discount(tmp_path: Path) -> None:
    text = write_rows(*((1, 1, "3.33", "", "1.00" if not n else "", "piece") for n in range(3)))
    found = bring_in(tmp_path, MAPPING, **{"a.csv": text})
    assert sum(find_cents(line) for line in found.receipts[0]["lines"]) == 899
    [month] = found.account["months"]
    assert month["in_cents"] == 899


def test_rows_that_two_files_have_share_a_discount_once(tmp_path: Path) -> None:
    text = write_rows((1, 3, "2.00", "", "1.00", "piece"), (1, 1, "2.00", "", "", "piece"))
    found = bring_in(tmp_path, MAPPING, **{"a.csv": text, "b.csv": text})
    assert sum(map(find_cents, found.receipts[0]["lines"])) == 300


def test_rows_that_differ_by_a_cent_are_two(tmp_path: Path) -> None:
    text = HEAD + "".join(
        f"1,2024-03-01 09:00,A,3,{amount},,,piece\n" for amount in ("1.00", "1.01")
    )
    found = bring_in(tmp_path, MAPPING, **{"a.csv": text, "b.csv": HEAD})
    assert sum(map(find_cents, found.receipts[0]["lines"])) == 201


def test_a_refused_row_of_two_lines_is_counted_once(tmp_path: Path) -> None:
    text = write_rows((1, 3, "1.00", "", "", "piece"), (1, "some", "1.00", "", "", "piece"))
    found = bring_in(tmp_path, MAPPING, **{"a.csv": text})
    assert sum(found.account["rows"]["refused"].values()) == 2
    assert found.account["rows"]["used"] == 0


AMOUNT = st.decimals(0, 500, places=2)
ROW = st.one_of(
    st.tuples(st.integers(1, 40), AMOUNT, st.just("piece")),
    st.tuples(st.decimals("0.001", 40, places=3), AMOUNT, st.just("kilogram")),
)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=40), percent=st.integers(0, 100), turn=st.booleans())
def test_lines_come_to_the_amount_and_have_the_units(
    rows: list[tuple[Any, Decimal, str]], percent: int, turn: bool
) -> None:
    sign = "-" if turn else ""
    cells = [(1, f"{sign}{n}", f"{sign}{amount}", f"{percent}%", "", by) for n, amount, by in rows]
    with TemporaryDirectory() as folder:
        found = bring_in(Path(folder), MAPPING, **{"a.csv": write_rows(*cells)})
    [event] = found.receipts + found.refunds
    lines: list[Line] = event["lines"]
    gross = sum((amount for _, amount, _ in rows), start=Decimal(0))
    exact = gross * (100 - percent)
    assert sum(map(find_cents, lines)) == int(exact + Decimal("0.5"))
    for place, (units, _, by) in enumerate(rows):
        counted = sum(line["units"] for line in lines if line["sku"] == f"A-{place}")
        assert counted == int(units * (1 if by == "piece" else 1000))
