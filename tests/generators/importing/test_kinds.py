"""More of each kind of export: identity, numbers, times, files, meaning."""

import gzip
import io
import json
import zipfile
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from generators.importing.numbers import parse_number
from generators.importing.times import choose_clock, parse_time
from infra.errors import UserError
from tests.generators.importing.outcomes import (
    HEAD,
    PLAIN,
    ROW,
    bring_in,
    cents,
    units,
    write_files,
)
from tests.generators.importing.workbook import Cell, write_workbook


def rows(*texts: str) -> dict[str, str | bytes]:
    return {"a.csv": HEAD + "".join(f"{text}\n" for text in texts)}


# Identity


def test_a_number_that_comes_again_days_later_is_asked_for(tmp_path: Path) -> None:
    again = rows("1,2024-03-01 17:00,L,A,1,1", "1,2024-03-02 09:00,L,A,1,1")
    assert "receipt.restarts" in next(iter(bring_in(tmp_path, PLAIN, **again).reasons.values()))
    by_day = PLAIN.replace("by: [Receipt]", "by: [Receipt], restarts: day")
    assert len(set(bring_in(tmp_path, by_day, **again).ids)) == 2
    one = PLAIN.replace("by: [Receipt]", "by: [Receipt], restarts: never")
    assert len(bring_in(tmp_path, one, **again).receipts) == 1


def test_a_visit_over_midnight_is_one(tmp_path: Path) -> None:
    late = rows("1,2024-03-01 23:50,L,A,1,1", "1,2024-03-02 00:10,L,A,1,1")
    assert len(bring_in(tmp_path, PLAIN, **late).receipts) == 1


def test_one_number_of_two_tills_or_customers_is_refused(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",Till\n")
    text = f"{head}1,2024-03-01,L,A,1,1,T1\n1,2024-03-01,L,A,1,1,T2\n"
    mapping = PLAIN.replace("store: Shop", "store: Shop, register_id: Till")
    assert "one till" in bring_in(tmp_path, mapping, **{"a.csv": text}).reasons[1]
    both = mapping.replace("[Receipt]", "[Till, Receipt]")
    assert len(bring_in(tmp_path, both, **{"a.csv": text}).receipts) == 2


@pytest.mark.parametrize("parts", [("a|b", "c"), ("a", "b|c"), ("a~", "|bc")])
def test_parts_of_a_number_do_not_flow_together(tmp_path: Path, parts: tuple[str, str]) -> None:
    mapping = PLAIN.replace("[Receipt]", "[Till, Receipt]")
    head = "Till;Receipt;When;Shop;Article;Qty;Price\n"
    text = (
        head + f"{';'.join(parts)};2024-03-01;L;A;1;1\nx~|y;z;2024-03-01;L;A;1;1\n"
        "a|b|c;;2024-03-01;L;A;1;1\n"
    )
    found = bring_in(tmp_path, mapping, **{"a.csv": text})
    assert len(set(found.ids)) == 3


def test_rows_without_a_number_differ_by_every_field(tmp_path: Path) -> None:
    text = (
        "When,Shop,Article,Qty,Price,Customer,Card\n2024-03-01,L,A,1,1,X,\n2024-03-01,L,A,1,1,,X\n"
    )
    mapping = PLAIN.replace("by: [Receipt]", "by: []").replace(
        "store: Shop", "store: Shop, customer: Customer, card: Card"
    )
    assert len(set(bring_in(tmp_path, mapping, **{"a.csv": text}).ids)) == 2


def test_words_for_nothing_name_nobody(tmp_path: Path) -> None:
    words = ["NULL", r"\N", "N/A", "NaN", "none", "guest"]
    text = HEAD.replace("\n", ",Customer\n") + "".join(
        f"{number},2024-03-01,L,A,1,1,{word}\n" for number, word in enumerate(words)
    )
    mapping = PLAIN.replace("store: Shop", "store: Shop, customer: Customer")
    assert bring_in(tmp_path, mapping, **{"a.csv": text}).customers == {"guest"}
    settled = "rows: {nothing: [Guest, 'null']}" + mapping
    assert bring_in(tmp_path, settled, **{"a.csv": text}).customers == {*words} - {"NULL", "guest"}


def test_a_number_that_a_spreadsheet_rounded_is_refused(tmp_path: Path) -> None:
    found = bring_in(
        tmp_path, PLAIN, **rows("1,2024-03-01,L,5.01E+12,1,1", '2,2024-03-01,L,="00417",1,1')
    )
    assert "spreadsheet has rounded" in found.reasons[1]
    assert units(found.receipts) == {"L/00417": 1}


# Numbers


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1,234.50", "1234.50", None),
        ("1.234,50", None, "1234.50"),
        ("1'234.50", "1234.50", None),
        ("1\u202f234,5 €", None, "1234.5"),
        ("12,34,567.8", "1234567.8", None),
        ("(4.50)", "-4.50", None),
        ("4.50-", "-4.50", None),
        ("1.299,00- €", None, "-1299.00"),
        ("−4", "-4", "-4"),
        ("CHF 0.350", "0.350", None),
        ("R$ 1.234,56", None, "1234.56"),
        ("1,23,4", None, None),
        ("12 kg", None, None),
        ("n/a", None, None),
    ],
)
def test_a_number_is_read_by_a_sign_or_not_at_all(
    text: str, point: str | None, comma: str | None
) -> None:
    read = [
        number and f"{number.value:f}"
        for number in (parse_number(text, "."), parse_number(text, ","))
    ]
    assert read == [point, comma]


def test_a_column_has_one_sign_and_other_cells_are_refused(tmp_path: Path) -> None:
    prices = ["2.50", "3.25", '"4,50"', '"1,234.00"', "7"]
    found = bring_in(
        tmp_path,
        PLAIN,
        **rows(*(f"{n},2024-03-01,L,A,1,{price}" for n, price in enumerate(prices))),
    )
    assert found.reasons == {3: "price: expected a number with a decimal point"}
    assert cents(found.receipts) == 250 + 325 + 123_400 + 700
    found = bring_in(tmp_path, 'rows: {decimal: ","}' + PLAIN, **rows("1,2024-03-01,L,A,1,4.50"))
    assert found.reasons == {1: "price: expected a number with a decimal comma"}


def test_a_sign_is_found_in_another_column_or_asked_for(tmp_path: Path) -> None:
    doubtful = rows('1,2024-03-01,L,A,1,"1.299"')
    with pytest.raises(UserError, match=r"Price: 1\.299 is 1\.299 or 1299"):
        bring_in(tmp_path, PLAIN, **doubtful)
    stated = 'rows: {decimal: {Price: ","}}' + PLAIN
    assert cents(bring_in(tmp_path, stated, **doubtful).receipts) == 129_900
    with_units = PLAIN.replace("store: Shop", "store: Shop, discount: Less")
    text = 'Receipt,When,Shop,Article,Qty,Price,Less\n1,2024-03-01,L,A,1,"1.299","0,50"\n'
    assert cents(bring_in(tmp_path, with_units, **{"a.csv": text}).receipts) == 129_850


# Times


@pytest.mark.parametrize(
    ("text", "formats", "local"),
    [
        ("2024-03-01T09:12+0200", [], "2024-03-01 07:12:00"),
        ("20240301T091205Z", [], "2024-03-01 09:12:05"),
        ("2024-03-01 09:12:05.1234567", [], "2024-03-01 09:12:05.123456"),
        ("2024-03-01T24:00", [], "2024-03-02 00:00:00"),
        ("2024-W09-5", [], None),
        ("2024-061", [], None),
        ("3/1/2024 12:05 a. m.", ["%m/%d/%Y %I:%M %p"], "2024-03-01 00:05:00"),
        ("3/1/24 3:15\u202fPM", ["%m/%d/%y %I:%M %p"], "2024-03-01 15:15:00"),
        ("01-Dez-2024", ["%d-%b-%Y"], "2024-12-01 00:00:00"),
        ("45352.375", ["excel"], "2024-03-01 09:00:00"),
        ("1709283600", ["unix"], "2024-03-01 09:00:00"),
        ("03/04/2024", ["%d/%m/%Y", "%m/%d/%Y"], None),
        ("03/13/2024", ["%d/%m/%Y", "%m/%d/%Y"], "2024-03-13 00:00:00"),
    ],
)
def test_a_time_is_read_in_one_way_or_not_at_all(
    text: str, formats: list[str], local: str | None
) -> None:
    moment = parse_time(text, formats)
    assert (moment and str(moment.local)) == local


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["912", "1631"], "9:12:00"),
        (["9:12 PM"], "21:12:00"),
        (["0.375"], "9:00:00"),
        (["9h05"], "9:05:00"),
    ],
)
def test_a_clock_is_read_by_its_longest_text(texts: list[str], first: str) -> None:
    assert str(choose_clock(texts)(texts[0])) == first


def test_hours_that_do_not_exist_or_exist_twice_are_as_before(tmp_path: Path) -> None:
    mapping = PLAIN.replace("zone: UTC", "zone: Europe/Berlin")
    found = bring_in(
        tmp_path, mapping, **rows("1,2024-03-31 02:30,L,A,1,1", "2,2024-10-27 02:30,L,A,1,1")
    )
    assert found.times == ["2024-03-31T01:30:00Z", "2024-10-27T01:30:00Z"]


# Files


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp1250", "cp1251"]
)
def test_a_file_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    title = {"cp1250": "Žluťoučký kůň", "cp1251": "Чайник"}.get(encoding, "Crème")
    text = f"Receipt,When,Shop,Article,Qty,Price,Title\n1,2024-03-01,L,A,1,1,{title}\n"
    mapping = f"rows: {{encoding: {encoding}}}" + PLAIN + "products: {name: Title}"
    found = bring_in(tmp_path, mapping, **{"a.csv": text.encode(encoding), "b.csv": text.encode()})
    assert found.names == {"A": title}
    assert found.account["rows"]["skipped"] == {"is in another file too": 1}


def test_titles_above_and_totals_below_are_no_rows(tmp_path: Path) -> None:
    above = "Sales of March\n\nsep=,\n" + "title\n" * 46
    text = f"{above}{HEAD}{ROW}Total,,,,2,9.00\n,,,TOTAL,2,9.00\n"
    found = bring_in(tmp_path, PLAIN, **{"a.csv": text})
    assert cents(found.receipts) == 900
    assert set(found.reasons.values()) == {"row: expected a sale, found a total"}
    with pytest.raises(UserError, match="lacks columns"):  # more than stand above a header
        bring_in(tmp_path, PLAIN, **{"a.csv": f"title\n{text}"})


def test_an_archive_is_its_files_without_those_of_a_mac(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("d/1.csv", HEAD + ROW)
        archive.writestr("d/2.csv", HEAD + ROW.replace("1,", "2,", 1))
        archive.writestr("__MACOSX/d/._1.csv", b"\0\5\26\7")
        archive.writestr("d/Thumbs.db", b"\0")
    found = bring_in(tmp_path, PLAIN, **{"a.zip": packed.getvalue()})
    assert len(found.receipts) == 2


def test_hidden_files_of_a_folder_are_left_out(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {"d/1.csv": HEAD + ROW, "d/._1.csv": b"\0", "d/Thumbs.db": b"\0", "d/~$a.xlsx": b"\0"},
    )
    assert len(bring_in(tmp_path, PLAIN, "d").receipts) == 1


def test_a_column_may_be_added_in_the_middle_of_the_year(tmp_path: Path) -> None:
    mapping = PLAIN.replace("store: Shop", "store: Shop, customer: Customer")
    newer = "Customer,Shop,Receipt,When,Article,Qty,Price\nC7,L,2,2024-07-01,A,1,1\n"
    found = bring_in(tmp_path, mapping, **{"a.csv": HEAD + ROW, "b.csv": newer})
    assert (len(found.receipts), found.customers) == (2, {"C7"})
    with pytest.raises(UserError, match="Customer"):
        bring_in(tmp_path, mapping, "a.csv")


@pytest.mark.parametrize("title", ['5" pipe', '"Retro', 'a "b" c', '"12 inch'])
def test_stray_quotes_swallow_no_rows(tmp_path: Path, title: str) -> None:
    head = "Receipt\tWhen\tShop\tArticle\tQty\tPrice\tTitle\n"
    lines = [
        f"{n}\t2024-03-01\tL\tA-{n}\t1\t1\t{title if n == 2 else 'plain'}\n" for n in range(1, 6)
    ]
    found = bring_in(
        tmp_path, PLAIN + "products: {name: Title}", **{"a.tsv": head + "".join(lines)}
    )
    assert len(found.receipts) == 5
    assert found.names["A-2"] == title


def test_a_row_with_more_cells_than_names_is_refused(tmp_path: Path) -> None:
    found = bring_in(tmp_path, PLAIN, **rows("1,2024-03-01,L,A,1,19,90", "2,2024-03-01,L,A,1,1,,"))
    assert found.reasons == {1: "row: expected as many cells as the header has, found more"}
    assert len(found.receipts) == 1


def test_nested_objects_and_lists_in_json_are_rows(tmp_path: Path) -> None:
    row = {"id": 1, "at": "2024-03-01", "shop": {"id": "L"}, "sku": "A", "n": 1, "price": 1.10}
    mapping = PLAIN.replace("When", "at").replace("Receipt", "id").replace("Article", "sku")
    mapping = mapping.replace("Qty", "n").replace("Price", "price").replace("Shop", "shop.id")
    found = bring_in(
        tmp_path,
        mapping,
        **{"a.json": json.dumps([row]).encode(), "b.jsonl.gz": gzip.compress(b"\nno row\n")},
    )
    assert (units(found.receipts), cents(found.receipts)) == ({"L/A": 1}, 110)
    assert found.reasons == {1: "row: expected an object in JSON"}


def test_parquet_of_floats_and_dates_says_what_they_are(tmp_path: Path) -> None:
    table = pa.table(
        {
            "Receipt": [536365.0, 536366.0],
            "When": pa.array([0, 60], pa.timestamp("s")),
            "Shop": ["L"] * 2,
        }
        | {"Article": ["A"] * 2, "Qty": [2.0, 1.0], "Price": [4.49, 0.1]}
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    found = bring_in(tmp_path, PLAIN, "a.parquet")
    assert found.ids == ["L-536365-R", "L-536366-R"]
    assert (found.times[1], cents(found.receipts)) == ("1970-01-01T00:01:00Z", 908)


# Meaning


@pytest.mark.parametrize("signs", [(-2, 5), (2, -5), (-2, -5)])
def test_a_return_has_one_of_three_signs(tmp_path: Path, signs: tuple[int, int]) -> None:
    mapping = PLAIN + "cancelled: {negative_units: true, negative_price: true}"
    found = bring_in(tmp_path, mapping, **rows("1,2024-03-01,L,A,{},{}".format(*signs)))
    assert (units(found.refunds), cents(found.refunds)) == ({"L/A": 2}, 1000)


def test_losses_do_not_come_back_to_the_shelf(tmp_path: Path) -> None:
    lost = rows("1,2024-03-01,L,A,-2,0", "2,2024-03-01,L,A,-1,5")
    found = bring_in(
        tmp_path, PLAIN + "cancelled: {negative_units: true}\ncorrections: damage", **lost
    )
    assert (units(found.adjustments), units(found.refunds)) == ({"L/A": -2}, {"L/A": 1})
    mapping = PLAIN + "corrections: {column: Kind, values: {Waste: damage, Count: count}}"
    text = (
        HEAD.replace("\n", ",Kind\n") + "1,2024-03-01,L,A,2,1,waste\n2,2024-03-01,L,A,3,1,Count\n"
    )
    found = bring_in(tmp_path, mapping, **{"a.csv": text})
    assert sorted(event["units"] for event in found.adjustments) == [-2, 3]


def test_discounts_of_lines_and_receipts_come_off(tmp_path: Path) -> None:
    mapping = PLAIN.replace("by: [Receipt]", "by: [Receipt], discount: Order less").replace(
        "store: Shop", "store: Shop, discount: Less"
    )
    text = HEAD.replace("\n", ",Less,Order less\n") + (
        "1,2024-03-01,L,A,2,10.00,10%,-4.00\n1,2024-03-01,L,B,1,4.00,2.00,\n2,2024-03-01,L,A,1,5.00,none,\n"
    )
    found = bring_in(tmp_path, mapping, **{"a.csv": text})
    assert cents(found.receipts) == 1440 + 160 + 500


# The account


def test_the_account_counts_every_row_and_refused_ones_can_be_mended(tmp_path: Path) -> None:
    sold = rows(
        "1,2024-01-31 23:30,L,A,2,4.50",
        "2,2024-03-01,M,A,one,4.50",
        "2,2024-03-01,M,B,3,1",
        "3,2024-03-01,L,POST,1,9",
    )
    mapping = PLAIN.replace("zone: UTC", "zone: Asia/Tokyo") + "rows: {skip: {Article: [POST]}}"
    found = bring_in(tmp_path, mapping, **sold)
    account = found.account
    assert account["rows"] == {
        "read": 4,
        "used": 1,
        "skipped": {"Article is POST": 1},
        "refused": {"units: expected a whole number": 2},
    }
    assert account["months"] == [
        {"month": "2024-01", "store": "L", "in_cents": 900, "out_cents": 0}
    ]
    assert account["columns"][1]["sum"] == "19"
    mended = found.to_mend.replace(",one,", ",1,")
    assert len(mended.splitlines()) == 3
    whole = bring_in(tmp_path, mapping, "a.csv", **{"mended.csv": mended})
    assert (whole.refused, whole.account["rows"]["used"]) == ([], 3)
    assert units(whole.receipts) == {"L/A": 2, "M/A": 1, "M/B": 3}


def test_a_workbook_is_all_its_sheets_or_those_that_the_mapping_names(tmp_path: Path) -> None:
    names: list[Cell] = [*HEAD.strip().split(",")]
    first: list[list[Cell]] = [
        ["March"],
        names,
        ["007", datetime(2024, 3, 1, 9, 12), "L", 22041.0, 2, 0.1 + 0.2],  # noqa: DTZ001
    ]
    second: list[list[Cell]] = [names, [8, datetime(2024, 3, 2), "L", "A", 1, 1.005]]  # noqa: DTZ001
    book = write_workbook({"2023": first, "2024": second})
    found = bring_in(tmp_path, PLAIN, **{"a.xlsx": book})
    assert found.ids == ["L-007-R", "L-8-R"]
    assert found.times == ["2024-03-01T09:12:00Z", "2024-03-02T00:00:00Z"]
    assert (units(found.receipts), cents(found.receipts)) == ({"L/22041": 2, "L/A": 1}, 161)
    some = "rows: {sheets: ['2024']}" + PLAIN
    assert len(bring_in(tmp_path, some, "a.xlsx").receipts) == 1
    with pytest.raises(UserError, match="should have the sheets 2025"):
        bring_in(tmp_path, some.replace("2024", "2025"), "a.xlsx")


def test_a_number_beyond_every_till_is_refused(tmp_path: Path) -> None:
    prices = (f"1,2024-03-01,L,A,1,{10**12}", "2,2024-03-01,L,A,1,1e9")
    found = bring_in(tmp_path, PLAIN, **rows(*prices))
    assert found.reasons[1] == "price: expected a number with a decimal point"
    assert found.receipts == []


@pytest.mark.parametrize(("hours", "count"), [(6, 1), (7, 0)])
def test_a_visit_into_another_day_lasts_six_hours(tmp_path: Path, hours: int, count: int) -> None:
    late = rows("1,2024-03-01 22:00,L,A,1,1", f"1,2024-03-02 0{hours - 2}:00,L,A,1,1")
    assert len(bring_in(tmp_path, PLAIN, **late).receipts) == count


def test_all_rows_come_to_what_was_paid_less_what_was_paid_back(tmp_path: Path) -> None:
    mapping = PLAIN + "cancelled: {negative_units: true}"
    found = bring_in(tmp_path, mapping, **rows("1,2024-03-01,L,A,3,2", "2,2024-03-01,L,A,-1,2"))
    assert found.account["all_rows_come_to"] == "4"
