"""What people really exported: eleven public reports, with the figures that are right."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from generators.importing.drafting import propose_mapping
from infra.errors import UserError
from tests.generators.importing.outcomes import (
    HEAD,
    PLAIN,
    bring_in,
    cents,
    render,
    units,
    write_files,
)


def test_rows_that_lost_their_number_are_receipts_of_their_own(tmp_path: Path) -> None:
    rows = """\
5001,2024-03-01 09:00:00,LEEDS,A-1,1,10.00
,2024-03-01 09:30:00,LEEDS,A-1,2,10.00
,2024-03-01 17:45:00,LEEDS,A-2,1,4.50
,2024-03-04 11:00:00,LEEDS,A-1,3,10.00
"""
    found = bring_in(tmp_path, PLAIN, **{"a.csv": HEAD + rows})
    assert [time[5:16] for time in found.times] == [
        *("03-01T09:00", "03-01T09:30", "03-01T17:45", "03-04T11:00"),
    ]
    assert units(found.receipts) == {"LEEDS/A-1": 6, "LEEDS/A-2": 1}
    assert cents(found.receipts) == 6450
    assert found.account["without_a_number"] == 3


SHOPIFY = """\
Name,Email,Paid at,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku
#1,a@example.com,2025-10-07 09:50:26 +0200,2025-10-07 09:50:25 +0200,3,"Mask, green",34.90,MSK-G
#1,a@example.com,,2025-10-07 09:50:25 +0200,1,Soap,6.50,SOAP
#2,b@example.com,2025-10-26 02:30:00 +0100,2025-10-26 02:30:00 +0100,2,Soap,6.50,SOAP
"""


@pytest.mark.parametrize(("column", "second"), [("Created at", 25), ("Paid at", 26)])
def test_what_only_an_orders_first_row_says_holds_for_all_its_rows(
    tmp_path: Path, column: str, second: int
) -> None:
    mapping = f"""
time: {{column: '{column}', zone: Europe/Paris}}
receipt: {{by: [Name]}}
fields: {{sku: Lineitem sku, units: Lineitem quantity, unit_price: Lineitem price,
  store: {{value: ONLINE}}, customer: Email}}
money: {{currency: EUR}}
"""
    found = bring_in(tmp_path, mapping, **{"orders.csv": SHOPIFY})
    assert found.times == [f"2025-10-07T07:50:{second}Z", "2025-10-26T01:30:00Z"]
    assert units(found.receipts) == {"ONLINE/MSK-G": 3, "ONLINE/SOAP": 3}
    assert cents(found.receipts) == 12420


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_an_offset_in_the_format_needs_no_zone(tmp_path: Path, zone: str) -> None:
    mapping = PLAIN.replace(
        "zone: UTC", f'zone: {zone}, format: ["%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S"]'
    )
    rows = "1,2024-07-01 10:00:00 +0200,BER,A,1,2\n2,2024-01-15 10:00:00 +0100,BER,A,1,2\n"
    found = bring_in(
        tmp_path, mapping, **{"a.csv": f"{HEAD}{rows}3,2024-07-01 12:00:00,BER,A,1,2\n"}
    )
    hour = 10 if zone != "UTC" else 12
    assert found.times == [
        *("2024-01-15T09:00:00Z", "2024-07-01T08:00:00Z", f"2024-07-01T{hour}:00:00Z"),
    ]


JSON = """
time: {column: at, zone: UTC}
receipt: {by: [id]}
fields: {sku: sku, units: n, unit_price: price, store: shop}
money: {currency: GBP}
"""


def test_json_lines_say_late_what_they_did_not_say_at_first(tmp_path: Path) -> None:
    start = datetime(2024, 3, 1, 9)  # noqa: DTZ001 - a clock on a wall
    rows: list[dict[str, object]] = [
        {"id": f"T{number}", "at": str(start + timedelta(seconds=number)), "shop": "LEEDS"}
        | {"sku": 22041, "n": 1, "price": 5}
        for number in range(20_500)
    ]
    rows[-2]["price"], rows[-1]["price"], rows[-1]["sku"] = 4.49, 0.99, "85123A"
    found = bring_in(tmp_path, JSON, **{"late.jsonl": "\n".join(map(json.dumps, rows))})
    assert (len(found.receipts), found.refused) == (20_500, [])
    assert cents(found.receipts) == 10_249_548
    assert units(found.receipts) == {"LEEDS/22041": 20_499, "LEEDS/85123A": 1}


def test_json_lines_are_texts_until_the_mapping_reads_them(tmp_path: Path) -> None:
    long = "00000000000000000000000000000042"
    rows = [
        ("25-11-2024 09:15:00", 22041),
        ("03-12-2024 10:00:00", "00417"),
        ("04-12-2024 10:00:00", long),
    ]
    lines = [
        json.dumps(
            {"id": f"D{number}", "at": at, "shop": "LEEDS", "sku": sku, "n": 1, "price": 2.5}
        )
        for number, (at, sku) in enumerate(rows)
    ]
    mapping = JSON.replace("zone: UTC", 'format: "%d-%m-%Y %H:%M:%S", zone: UTC')
    found = bring_in(tmp_path, mapping, **{"dates.jsonl": "\n".join(lines)})
    assert [time[:16] for time in found.times] == [
        *("2024-11-25T09:15", "2024-12-03T10:00", "2024-12-04T10:00"),
    ]
    assert set(units(found.receipts)) == {"LEEDS/22041", "LEEDS/00417", f"LEEDS/{long}"}


def test_no_cell_of_a_column_per_day_vanishes(tmp_path: Path) -> None:
    mapping = """
rows: {delimiter: ";", decimal: ","}
wide: {columns: "^d_[0-9]+$", name: d, value: sold}
lookups: [{file: calendar.csv, match: {d: d}}]
time: {column: date, at: "12:00", zone: UTC}
receipt: {by: [d]}
fields: {sku: item, units: sold, unit_price: price, store: store}
money: {currency: EUR}
"""
    days = "".join(f"d_{day};2024-03-0{day}\n" for day in range(1, 8))
    write_files(tmp_path, {"calendar.csv": "d;date\n" + days})
    wide = "item;store;price;d_1;d_2;d_3;d_4;d_5;d_6;d_7\nA-1;BER;2,00;1;0;3;1,0;n/a;2;1.200\n"
    found = bring_in(tmp_path, mapping, **{"wide.csv": wide})
    assert units(found.receipts) == {"BER/A-1": 1207}
    assert (len(found.receipts), cents(found.receipts)) == (5, 241_400)
    assert found.reasons == {1: "units: expected a whole number"}
    [head, row] = found.to_mend.splitlines()
    assert dict(zip(head.split(";"), row.split(";"), strict=True)) == {
        "item": "A-1",
        "store": "BER",
        "price": "2,00",
        "d_5": "n/a",
        **dict.fromkeys(("d_1", "d_2", "d_3", "d_4", "d_6", "d_7"), ""),
        "_file": "wide.csv",
        "_row": "1",
        "_reason": "units: expected a whole number",
    }


def test_what_people_call_latin_1_is_what_windows_writes(tmp_path: Path) -> None:
    mapping = "rows: {encoding: latin-1}" + PLAIN + "products: {name: Title}"
    text = (
        "Receipt,When,Shop,Article,Title,Qty,Price\n1,2024-03-01,LEEDS,A-1,Children’s mug 5€,1,5\n"
    )
    found = bring_in(tmp_path, mapping, **{"a.csv": text.encode("cp1252")})
    assert found.names == {"A-1": "Children’s mug 5€"}
    with pytest.raises(UserError, match="cp1252"):
        bring_in(tmp_path, PLAIN, **{"a.csv": text.encode("cp1252")})


def test_money_with_its_sign_and_a_time_in_two_columns(tmp_path: Path) -> None:
    mapping = """
time: {column: Date, at: "12:00", zone: America/New_York}
receipt: {by: [ID]}
cancelled: {column: Event Type, values: [Refund]}
fields: {sku: SKU, units: Qty, amount: Gross Sales, store: Location}
money: {currency: USD}
"""
    text = """\
Date,Time,Time Zone,Qty,SKU,Gross Sales,ID,Event Type,Location
2024-03-01,09:12:05,Eastern Time (US & Canada),2.0,LAT,$9.00,T1,Payment,Main St
2024-03-01,17:40:31,Eastern Time (US & Canada),1.0,ESP,"$1,234.50",T2,Payment,Main St
2024-03-02,08:05:00,Eastern Time (US & Canada),-1.0,LAT,-$4.50,T3,Refund,Main St
"""
    for column in ("Date", "[Date, Time]"):
        found = bring_in(
            tmp_path, mapping.replace("column: Date", f"column: {column}"), **{"a.csv": text}
        )
        assert found.times == ["2024-03-01T14:12:05Z", "2024-03-01T22:40:31Z"]
        assert [render(refund) for refund in found.refunds] == ["2024-03-02T13:05:00Z"]
        assert (cents(found.receipts), cents(found.refunds)) == (124_350, 450)


def test_two_stores_numbers_never_make_one_id(tmp_path: Path) -> None:
    rows = "2-0001,2024-03-01 09:00,LDN,A-1,1,5\n0001,2024-03-01 09:10,LDN-2,A-1,3,5\n"
    found = bring_in(tmp_path, PLAIN, **{"a.csv": HEAD + rows})
    assert len(set(found.ids)) == 2


def test_an_empty_day_is_none_and_a_lacking_column_is_named_with_its_file(tmp_path: Path) -> None:
    first, last = "1,2024-03-01 09:00,LEEDS,A-1,1,5\n", "5,2024-03-05 09:00,LEEDS,A-1,1,5\n"
    closed = {"c/1.csv": HEAD + first, "c/2.csv": "", "c/3.csv": HEAD, "c/5.csv": HEAD + last}
    write_files(tmp_path, closed)
    assert len(bring_in(tmp_path, PLAIN, "c").receipts) == 2
    older = {"o/2024-03-01.csv": HEAD + first, "o/2024-03-04.csv": HEAD.replace("Shop,", "")}
    write_files(tmp_path, older)
    with pytest.raises(UserError, match=r"2024-03-04\.csv lacks .*Shop"):
        bring_in(tmp_path, PLAIN, "o")


def test_one_customer_is_one_with_and_without_a_point(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",Customer\n")
    pandas = f"{head}1,2024-03-01 09:00,L,A,1,5,13085.0\n2,2024-03-01 09:05,L,A,1,5,\n"
    excel = f"{head}3,2024-03-01 09:10,L,A,1,5,13085\n"
    write_files(tmp_path, {"pandas.csv": pandas, "excel.csv": excel})
    draft = propose_mapping(tmp_path / "pandas.csv")
    assert "customer: Customer  # CHECK: 13085.0 is read as 13085" in draft
    found = bring_in(tmp_path, draft, "pandas.csv", "excel.csv")
    assert (len(found.receipts), found.customers) == (3, {"13085"})


def test_blanks_around_a_text_are_none_of_it(tmp_path: Path) -> None:
    mapping = PLAIN + "cancelled: {column: Receipt, prefix: C}\ncorrections: damage\n"
    rows = """\
"536365  ",2024-03-01 09:00:00,LEEDS,A-1  ,2,5.00
"536365",2024-03-01 09:00:00,LEEDS,A-2,1,5.00
"  C536379",2024-03-01 10:00:00,LEEDS,A-1,-1,5.00
"536380   ",2024-03-01 11:00:00,LEEDS,A-1,-3,0
"""
    found = bring_in(tmp_path, mapping, **{"a.csv": HEAD + rows})
    assert [len(event["lines"]) for event in found.receipts] == [2]
    assert (units(found.refunds), units(found.adjustments)) == ({"LEEDS/A-1": 1}, {"LEEDS/A-1": -3})
    assert (cents(found.receipts), found.refused) == (1500, [])
