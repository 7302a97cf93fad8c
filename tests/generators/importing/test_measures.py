"""Goods that are sold by weight, volume or length: how many thousandths, and what is refused."""

from pathlib import Path

from contracts import ADJUSTMENTS, PRODUCTS
from generators.importing.events import Refused, to_outgoing
from tests.generators.importing.sales import (
    FIELDS,
    announce,
    create_mapping,
    find_reasons,
    read,
    read_issued,
    select_issued,
)

SALES = """\
id;when;sku;qty;unit;price
1;2024-03-01 09:00;APPLES;0,350;kg;2,99
1;2024-03-01 09:00;APPLES;1;kg;2,99
1;2024-03-01 09:00;BREAD;2;;3,40
2;2024-03-01 09:05;MILK;0,75;l;1,20
2;2024-03-01 09:05;RIBBON;12,001;metre;0,80
R3;2024-03-01 09:10;APPLES;-0,1;kg;2,99
"""


MEASURED = {
    "cancelled": {"negative_units": True},
    "fields": {**FIELDS, "measure": "unit"},
    "measures": {"kg": "kilogram", "l": "litre"},
}
SHAPE = create_mapping(**MEASURED)


def write(folder: Path, text: str = SALES) -> Path:
    file = folder / "sales.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_quantity_of_a_measure_is_a_whole_number_of_its_thousandths(tmp_path: Path) -> None:
    first, second, refund = read_issued(SHAPE, write(tmp_path))
    assert first.event["lines"] == [
        {"sku": "APPLES", "units": 350, "unit_price_cents": 299, "measure": "kilogram"},
        {"sku": "APPLES", "units": 1_000, "unit_price_cents": 299, "measure": "kilogram"},
        {"sku": "BREAD", "units": 2, "unit_price_cents": 340},
    ]
    assert second.event["lines"] == [
        {"sku": "MILK", "units": 750, "unit_price_cents": 120, "measure": "litre"},
        {"sku": "RIBBON", "units": 12_001, "unit_price_cents": 80, "measure": "metre"},
    ]
    assert refund.event["lines"][0]["units"] == 100
    for issued in (first, second, refund):
        assert not isinstance(to_outgoing(issued, issued.at_ms), Refused)


def test_one_measure_may_hold_for_all_rows(tmp_path: Path) -> None:
    rows = "id;when;sku;qty;price\n1;2024-03-01 09:00;APPLES;0,5;2,99\n"
    for_all = create_mapping(fields={**FIELDS, "measure": {"value": "kilogram"}})
    [receipt] = read_issued(for_all, write(tmp_path, rows))
    [line] = receipt.event["lines"]
    assert line == {"sku": "APPLES", "units": 500, "unit_price_cents": 299, "measure": "kilogram"}


def test_an_amount_of_a_line_becomes_the_price_of_a_whole_measure(tmp_path: Path) -> None:
    fields = {**FIELDS, "unit_price": None, "amount": "price", "measure": "unit"}
    by_amount = create_mapping(**MEASURED | {"fields": fields})
    first, *_ = read_issued(by_amount, write(tmp_path))
    assert [line["unit_price_cents"] for line in first.event["lines"]] == [854, 299, 170]


def test_what_is_no_quantity_of_its_measure_is_refused(tmp_path: Path) -> None:
    rows = """\
id;when;sku;qty;unit;price
1;2024-03-01 09:00;APPLES;0,3505;kg;2,99
2;2024-03-01 09:00;APPLES;0,35000000001;kg;2,99
3;2024-03-01 09:00;APPLES;some;kg;2,99
4;2024-03-01 09:00;BREAD;0,5;;3,40
5;2024-03-01 09:00;BREAD;0,5;piece;3,40
6;2024-03-01 09:00;TEA;0,5;lb;3,40
7;2024-03-01 09:00;APPLES;0,3500;kg;2,99
"""
    outcomes = read(SHAPE, write(tmp_path, rows))
    assert find_reasons(outcomes) == {
        **dict.fromkeys((1, 2, 3), "units: expected a number with at most three decimals"),
        **dict.fromkeys((4, 5), "units: expected a whole number"),
        6: "measure: expected kilogram, litre, metre or piece",
    }
    [receipt] = select_issued(outcomes)
    assert receipt.event["lines"][0]["units"] == 350


def test_a_product_has_one_measure(tmp_path: Path) -> None:
    other = SALES + "4;2024-03-01 09:20;APPLES;1;l;2,99\n"
    outcomes = read(SHAPE, write(tmp_path, other))
    reasons = set(find_reasons(outcomes).values())
    assert reasons == {"measure: expected the same in all rows of a sku"}
    assert [issued.event["lines"][0]["sku"] for issued in select_issued(outcomes)] == ["MILK"]


def test_a_product_is_announced_with_its_measure(tmp_path: Path) -> None:
    announced = announce(SHAPE, write(tmp_path))
    products = [issued.event for issued in announced if issued.contract is PRODUCTS]
    measures = {"APPLES": "kilogram", "BREAD": None, "MILK": "litre", "RIBBON": "metre"}
    assert {product["sku"]: product.get("measure") for product in products} == measures
    stock = [issued.event for issued in announced if issued.contract is ADJUSTMENTS]
    assert {shelf["sku"]: shelf["units"] for shelf in stock}["APPLES"] == 1_350
