"""From rows to receipts, refunds and adjustments, by the piece and by measure."""

from pathlib import Path

from contracts import ADJUSTMENTS, PRICE_CHANGES, PRODUCTS, RECEIPTS, REFUNDS
from generators.importing.events import Refused, to_outgoing
from tests.generators.importing.sales import (
    FIELDS,
    LAMP,
    SHAPE,
    announce,
    at,
    create_mapping,
    find_reasons,
    load_mapping,
    read,
    read_issued,
    select_issued,
    uci_row,
    write_m5,
    write_rows,
    write_uci,
)


def test_rows_become_receipts_refunds_and_losses_and_bad_ones_refuse_a_receipt_whole(
    tmp_path: Path,
) -> None:
    outcomes = read(SHAPE, write_uci(tmp_path / "a.csv"))
    issued = select_issued(outcomes)
    assert issued[0].contract is RECEIPTS
    assert issued[0].event == {
        "event_id": "ONLINE-536365-R",
        "event_time": at(2010, 12, 1, 8, 26),
        "store_id": "ONLINE",
        "register_id": "till",
        "cashier_id": "nobody",
        "customer_id": "17850",
        "lines": [
            {"sku": "85123A", "units": 6, "unit_price_cents": 255},
            {"sku": "71053", "units": 2, "unit_price_cents": 340},
        ],
    }
    [refund] = [outcome.event for outcome in issued if outcome.contract is REFUNDS]
    assert (refund["event_id"], refund["lines"][0]["units"]) == ("ONLINE-C536379-B", 1)
    [loss] = [outcome.event for outcome in issued if outcome.contract is ADJUSTMENTS]
    assert (loss["units"], loss["reason"]) == (-3, "damage")
    assert find_reasons(outcomes) == {
        6: "units: expected a whole number",
        8: "time: expected %m/%d/%Y %H:%M or %Y-%m-%d %H:%M:%S",
    }
    bad = [to_outgoing(outcome, outcome.at_ms) for outcome in issued]
    [refused] = [outcome for outcome in bad if isinstance(outcome, Refused)]
    assert refused.reasons == ("lines[].unit_price_cents is at least 0",)


def test_a_column_per_day_becomes_a_receipt_per_day_store_and_department(tmp_path: Path) -> None:
    issued = read_issued(load_mapping("m5"), write_m5(tmp_path))
    assert len(issued) == 16
    second = next(
        outcome.event for outcome in issued if outcome.event["event_id"] == "CA_1-d_2|FOODS_1-R"
    )
    assert second["event_time"] == at(2011, 1, 30, 18)  # noon in Chicago
    assert second["lines"] == [
        {"sku": "FOODS_1_001", "units": 1, "unit_price_cents": 201},
        {"sku": "FOODS_1_002", "units": 1, "unit_price_cents": 301},
    ]
    last = issued[-1].event["lines"]
    assert [line["unit_price_cents"] for line in last] == [202, 302]  # another week's prices


def test_what_is_longer_than_asked_for_becomes_several_receipts(tmp_path: Path) -> None:
    rows = [uci_row("1", number, "12/1/2010 8:26") for number in (1, 2, 3)]
    wanted = load_mapping("uci-online-retail", receipt={"by": ["InvoiceNo"], "lines_max": 2})
    issued = read_issued(wanted, write_rows(tmp_path / "a.csv", *rows))
    lines = [(outcome.event_id, len(outcome.event["lines"])) for outcome in issued]
    assert lines == [("ONLINE-1-R", 2), ("ONLINE-1-R1", 1)]


def test_a_receipt_that_never_ends_is_refused(tmp_path: Path) -> None:
    rows = [uci_row("1", 1, "12/1/2010 8:26")] * 10_001
    outcomes = read(SHAPE, write_rows(tmp_path / "a.csv", *rows))
    assert find_reasons(outcomes) == {1: "receipt: at most 10,000 lines"}


def test_equal_rows_without_a_receipts_number_are_told_apart_and_keep_their_ids(
    tmp_path: Path,
) -> None:
    wanted = load_mapping("uci-online-retail", receipt={})
    rows = [uci_row("1", 1, "12/1/2010 8:26")] * 2
    first = read_issued(wanted, write_rows(tmp_path / "a.csv", *rows))
    again = write_rows(tmp_path / "b.csv", uci_row("1", 9, "12/1/2010 8:00"), *rows)
    second = read_issued(wanted, again)
    ids = [outcome.event_id for outcome in first]
    assert len(set(ids)) == 2
    assert [outcome.event_id for outcome in second][1:] == ids


def test_opening_stock_is_the_least_that_covers_all_sales(tmp_path: Path) -> None:
    rows = [
        uci_row("1", 5, "12/1/2010 8:26"),
        uci_row("C2", -4, "12/1/2010 9:00"),
        uci_row("3", 6, "12/1/2010 10:00"),
        uci_row("4", 1, "12/1/2010 10:00", "3", LAMP),
        uci_row("5", -3, "12/1/2010 11:00", "0"),
    ]
    announced = announce(SHAPE, write_rows(tmp_path / "a.csv", *rows))
    stock = [issued.event for issued in announced if issued.contract is ADJUSTMENTS]
    assert {shelf["sku"]: shelf["units"] for shelf in stock} == {"85123A": 10, "71053": 1}
    prices = [issued.event for issued in announced if issued.contract is PRICE_CHANGES]
    assert {price["sku"]: price["price_cents"] for price in prices} == {"85123A": 255, "71053": 300}


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
BY_MEASURE = create_mapping(**MEASURED)


def write(folder: Path, text: str = SALES) -> Path:
    file = folder / "sales.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_quantity_of_a_measure_is_a_whole_number_of_its_thousandths(tmp_path: Path) -> None:
    first, second, refund = read_issued(BY_MEASURE, write(tmp_path))
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
    outcomes = read(BY_MEASURE, write(tmp_path, rows))
    assert find_reasons(outcomes) == {
        **dict.fromkeys((1, 2, 3), "units: expected a number with at most three decimals"),
        **dict.fromkeys((4, 5), "units: expected a whole number"),
        6: "measure: expected kilogram, litre, metre or piece",
    }
    [receipt] = select_issued(outcomes)
    assert receipt.event["lines"][0]["units"] == 350


def test_a_product_has_one_measure(tmp_path: Path) -> None:
    other = SALES + "4;2024-03-01 09:20;APPLES;1;l;2,99\n"
    outcomes = read(BY_MEASURE, write(tmp_path, other))
    reasons = set(find_reasons(outcomes).values())
    assert reasons == {"measure: expected the same in all rows of a sku"}
    assert [issued.event["lines"][0]["sku"] for issued in select_issued(outcomes)] == ["MILK"]


def test_a_product_is_announced_with_its_measure(tmp_path: Path) -> None:
    announced = announce(BY_MEASURE, write(tmp_path))
    products = [issued.event for issued in announced if issued.contract is PRODUCTS]
    measures = {"APPLES": "kilogram", "BREAD": None, "MILK": "litre", "RIBBON": "metre"}
    assert {product["sku"]: product.get("measure") for product in products} == measures
    stock = [issued.event for issued in announced if issued.contract is ADJUSTMENTS]
    assert {shelf["sku"]: shelf["units"] for shelf in stock}["APPLES"] == 1_350
