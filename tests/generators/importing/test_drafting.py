"""A draft marks with CHECK what two readings are possible of, and says what each would give."""

from pathlib import Path

import pytest
import yaml

from generators.importing.drafting import propose_mapping
from generators.importing.mapping import Mapping
from tests.generators.importing.outcomes import bring_in, cents, units, write_files
from tests.generators.importing.sales import SHAPE, write_m5, write_uci

HEAD = "Receipt,When,Shop,Article,Qty,Price,Customer\n"


def draft(folder: Path, *rows: str, head: str = HEAD) -> str:
    """The draft, which is a mapping as it stands."""
    write_files(folder, {"a.csv": head + "".join(f"{row}\n" for row in rows)})
    text = propose_mapping(folder / "a.csv")
    Mapping.model_validate(yaml.safe_load(text))
    return text


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [
                '1,2024-03-01,L,A,1,"4,50",',
                "2,2024-03-01,L,A,1,4.50,",
                '3,2024-03-01,L,A,1,"4,50",',
            ],
            'decimal: {Price: ","}  # CHECK: 4.50 · 4,50',
        ),
        (
            ["1,2024-03-01,L,A,1,1.250,"],
            'decimal: {Price: "."}  # CHECK: 1.250: with "." the column comes to 1.250',
        ),
        (
            ["1,2024-03-01 09:00,L,A,1,1,", "1,2024-03-02 09:00,L,A,1,1,"],
            "# CHECK: 1 numbers come on several days, such as 1",
        ),
        (
            ["1,2024-03-01,L,A,1,1,", "1,2024-03-01,M,A,1,1,"],
            "# CHECK: 1 numbers are in several stores, such as 1",
        ),
        (
            ["1,2024-03-01,L,A,1,1,", ",2024-03-01,L,A,1,1,"],
            "# CHECK: 1 rows have no number: each is a receipt of its own",
        ),
        (["1,2024-03-01,Leeds,A,1,1,", "2,2024-03-01,LEEDS,A,1,1,"], "  store: Shop  # CHECK: "),
        (["1,2024-03-01,L,417,1,1,", "2,2024-03-01,L,00417,1,1,"], "  sku: Article  # CHECK: "),
        (
            ["1,2024-03-01,L,5.01E+12,1,1,"],
            "  sku: Article  # CHECK: 5.01E+12 was rounded by a spreadsheet",
        ),
        (
            ["1,2024-03-01,L,POST,1,1,", "2,2024-03-01,L,A,1,1,"],
            "  sku: Article  # CHECK: POST in 1 rows: if these",
        ),
        (
            [f"{n},2024-03-01,L,A,1,1,0" for n in range(30)],
            "  customer: Customer  # CHECK: 0 has 30 rows",
        ),
        (
            ["1,2024-03-01,L,A,-1,1,", "2,2024-03-01,L,A,1,1,"],
            "# CHECK: 1 rows have negative units",
        ),
        (["1,2024-03-01,L,A,1,1,"], "if it is the amount, write amount"),
        (["1,2024-03-01,L,A,1,1,"], '  at: "12:00"  # the files say the day only'),
        (["1,45352.375,L,A,1,1,"], 'format: "excel"'),
        (["1,2024-03-01,L,A,0.350,1,"], "# measure: {value: kilogram}"),
        (
            [f"{n},2024-03-01,L,A,1,5," for n in range(3_000)]
            + ["x,2024-03-01,L,A,1,4.50,", 'y,2024-03-01,L,A,1,"4,50",'],
            "CHECK: 4.50 · 4,50",
        ),
        (
            ["1,01/03/2024 9:05 PM,L,A,1,1,"],
            "or %m/%d/%Y %I:%M %p: 2024-01-03 to 2024-01-03, not 2024-03-01",
        ),
    ],
)
def test_a_draft_says_what_it_doubts(tmp_path: Path, rows: list[str], expected: str) -> None:
    assert expected in draft(tmp_path, *rows)


def test_a_draft_finds_what_the_mapping_of_a_shape_says(tmp_path: Path) -> None:
    drafted = Mapping.model_validate(yaml.safe_load(propose_mapping(write_uci(tmp_path / "a.csv"))))
    assert drafted.fields.model_copy(update={"store": SHAPE.fields.store}) == SHAPE.fields
    assert (drafted.receipt, drafted.cancelled) == (SHAPE.receipt, SHAPE.cancelled)
    wide = Mapping.model_validate(yaml.safe_load(propose_mapping(write_m5(tmp_path))))
    assert wide.wide is not None
    assert wide.wide.columns.pattern == "^d_[0-9]+$"
    assert (wide.fields.sku, wide.fields.store) == ("item_id", "store_id")


def test_a_draft_finds_what_surrounds_the_rows(tmp_path: Path) -> None:
    text = f'Sales of March;;\n{HEAD}1,01.03.2024 09:05,L,A,1,"1.234,50",\n'.replace(",", ";")
    text = text.replace('"1.234;50"', "1.234,50") + "2;13.03.2024 09:05;L;Crème;1;2,00;\n"
    write_files(tmp_path, {"a.csv": text.encode("cp1252")})
    drafted = propose_mapping(tmp_path / "a.csv")
    assert "encoding: cp1252  # CHECK: reads as 2;13.03.2024 09:05;L;Crème" in drafted
    assert cents(bring_in(tmp_path, drafted, "a.csv").receipts) == 123_650


def test_a_draft_of_a_till_finds_its_columns(tmp_path: Path) -> None:
    head = "Bon-Nr;Datum;Uhrzeit;Filiale;Artikelnummer;Bezeichnung;Menge;Einzelpreis;Art\n"
    rows = "17;01.03.2024;09:05;MITTE;4711;Kölnisch;2;3,50 €;Verkauf\n"
    rows += "18;14.03.2024;19:05;MITTE;4711;Kölnisch;1;3,50 €;Storno\n"
    write_files(tmp_path, {"a.csv": head + rows})
    found = bring_in(tmp_path, propose_mapping(tmp_path / "a.csv"), "a.csv")
    assert (found.times, cents(found.receipts), cents(found.refunds)) == (
        ["2024-03-01T09:05:00Z"],
        700,
        350,
    )


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Children’s mug 5€"),
        ("cp1252", "5 €"),
        ("cp1250", "Žluťoučký kůň"),
        ("cp1251", "Чайник Москва"),
        ("shift_jis", "東京の店 コーヒー"),
    ],
)
def test_a_draft_finds_the_code_page(tmp_path: Path, encoding: str, text: str) -> None:
    rows = "".join(f"{number},2024-03-01,L,{text},1,1,\n" for number in range(9))
    write_files(tmp_path, {"a.csv": (HEAD + rows).encode(encoding)})
    assert f"encoding: {encoding}  # CHECK: reads as 0," in propose_mapping(tmp_path / "a.csv")


def test_a_draft_of_orders_whose_first_row_says_most_is_right_as_it_stands(tmp_path: Path) -> None:
    text = """\
Order Ref,Date,Customer,Order Lines/Product,Order Lines/Quantity,Order Lines/Unit Price
Shop/0001,2024-03-01 09:12:00,Ann,Mug,2,4.5
,,,Cup,1,3
Shop/0002,2024-03-01 10:12:00,,Mug,1,4.5
"""
    write_files(tmp_path, {"a.csv": text})
    found = bring_in(tmp_path, propose_mapping(tmp_path / "a.csv"), "a.csv")
    assert [len(event["lines"]) for event in found.receipts] == [2, 1]
    assert cents(found.receipts) == 1650


def test_a_draft_names_each_format_of_a_column_of_times_and_the_currency(tmp_path: Path) -> None:
    text = """\
Order ID,Order Date,SKU,Qty,Unit Price,Branch
1,03/04/2026 9:05 AM,A,1,$1.00,L
2,04/05/2026 12:10 AM,A,1,$1.00,L
3,05/06/2026 12:10,A,1,$1.00,L
4,07/06/2026 13:10,A,1,$1.00,L
"""
    write_files(tmp_path, {"a.csv": text})
    drafted = propose_mapping(tmp_path / "a.csv")
    assert (
        '  format: ["%d/%m/%Y %H:%M", "%d/%m/%Y %I:%M %p"]  # CHECK: or %m/%d/%Y %H:%M' in drafted
    )
    assert "currency: USD" in drafted
    assert bring_in(tmp_path, drafted, "a.csv").refused == []


def test_a_draft_asks_for_a_clock_that_it_cannot_read(tmp_path: Path) -> None:
    text = "Beleg;Datum;Zeit;Artikel;Menge;Preis brutto;Storno\n"
    text += "1;13.01.2026;081500;A;1;2,50;nein\n2;14.01.2026;091500;A;1;2,50;ja\n"
    write_files(tmp_path, {"a.csv": text})
    drafted = propose_mapping(tmp_path / "a.csv")
    assert (
        '  at: "12:00"  # CHECK: if Zeit says when: column: [Datum, Zeit] and a format' in drafted
    )
    assert "  unit_price: 'Preis brutto'" in drafted
    assert "cancelled: {column: Storno, values: [ja]}" in drafted


def test_the_lines_of_an_order_in_json_are_rows(tmp_path: Path) -> None:
    text = """\
{"id": 7, "created_at": "2026-03-01T09:00:00+01:00", "shop": "L", "tax_lines": [{"rate": 0.2}],\
 "line_items": [{"sku": "007", "quantity": 2, "price": "4.50"}, {"sku": "8", "quantity": 1,\
 "price": 3}]}
{"id": 8, "created_at": "2026-03-01T10:00:00+01:00", "shop": "L", "line_items": []}
"""
    write_files(tmp_path, {"a.jsonl": text})
    drafted = propose_mapping(tmp_path / "a.jsonl")
    assert "  each: line_items" in drafted
    found = bring_in(tmp_path, drafted, "a.jsonl")
    [receipt] = found.receipts
    assert units([receipt]) == {"L/007": 2, "L/8": 1}
    assert list(found.reasons.values()) == ["sku: expected one, found nothing"]


def test_a_cell_that_only_looks_like_a_list_is_a_text(tmp_path: Path) -> None:
    rows = '1,2024-03-01,L,A,1,1,[{sku}\n2,2024-03-01,L,A,1,1,"[{""sku"": 1}]"\n'
    write_files(tmp_path, {"a.csv": HEAD + rows, "a.jsonl": '{"note": "[{sku}", "sku": "A"}\n'})
    for name in ("a.csv", "a.jsonl"):
        assert "each:" not in propose_mapping(tmp_path / name)
