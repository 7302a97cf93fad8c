"""From rows to receipts, refunds and adjustments: both public shapes, and what cannot be read."""

import gzip
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from contracts import ADJUSTMENTS, PRICE_CHANGES, RECEIPTS, REFUNDS
from generators.importing.events import Issued, Refused, announce_catalog, to_outgoing
from generators.importing.mapping import BadMapping, Mapping
from generators.importing.reading import BadFile, list_files, open_scratch, read_lines
from tests.generators.importing.sales import (
    LAMP,
    UCI,
    load_mapping,
    read,
    uci_row,
    write_csv,
    write_m5,
    write_uci,
)

SHAPE = load_mapping("uci-online-retail")


def select_issued(found: list[Issued | Refused]) -> list[Issued]:
    return [one for one in found if isinstance(one, Issued)]


def find_reasons(found: list[Issued | Refused]) -> dict[int, str]:
    """By row, the reason."""
    return {one.row: one.reasons[0] for one in found if isinstance(one, Refused)}


def at(year: int, month: int, day: int, hour: int, minute: int = 0) -> int:
    """Epoch milliseconds of a moment in UTC."""
    return round(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


def test_rows_with_one_invoice_number_are_one_receipt_of_its_first_time(tmp_path: Path) -> None:
    first, *_ = select_issued(read(tmp_path / "s", SHAPE, write_uci(tmp_path / "a.csv")))
    assert first.contract is RECEIPTS
    assert first.event == {
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


def test_a_cancelled_invoice_is_a_refund_and_negative_units_alone_a_loss(tmp_path: Path) -> None:
    found = select_issued(read(tmp_path / "s", SHAPE, write_uci(tmp_path / "a.csv")))
    [refund] = [one.event for one in found if one.contract is REFUNDS]
    assert (refund["event_id"], refund["lines"][0]["units"]) == ("ONLINE-C536379-B", 1)
    [loss] = [one.event for one in found if one.contract is ADJUSTMENTS]
    assert (loss["units"], loss["reason"]) == (-3, "damage")


def test_a_receipt_with_a_row_that_cannot_be_read_is_refused_whole_by_reason(
    tmp_path: Path,
) -> None:
    found = read(tmp_path / "s", SHAPE, write_uci(tmp_path / "a.csv"))
    assert find_reasons(found) == {
        6: "units: expected a whole number",
        8: "time: expected %m/%d/%Y %H:%M or %Y-%m-%d %H:%M:%S",
    }
    bad = [to_outgoing(one, one.at_ms) for one in select_issued(found)]
    assert [one.reasons for one in bad if isinstance(one, Refused)] == [
        ("lines[].unit_price_cents is at least 0",)
    ]


def test_a_column_per_day_becomes_a_receipt_per_day_store_and_department(tmp_path: Path) -> None:
    found = select_issued(read(tmp_path / "s", load_mapping("m5"), write_m5(tmp_path)))
    assert len(found) == 16
    second = next(one.event for one in found if one.event["event_id"] == "CA_1-d_2|FOODS_1-R")
    assert second["event_time"] == at(2011, 1, 30, 18)  # noon in Chicago
    assert second["lines"] == [
        {"sku": "FOODS_1_001", "units": 1, "unit_price_cents": 201},
        {"sku": "FOODS_1_002", "units": 1, "unit_price_cents": 301},
    ]
    last = found[-1].event["lines"]
    assert [line["unit_price_cents"] for line in last] == [202, 302]  # another week's prices


def test_what_is_longer_than_asked_for_becomes_several_receipts(tmp_path: Path) -> None:
    rows = [uci_row("1", number, "12/1/2010 8:26") for number in (1, 2, 3)]
    wanted = load_mapping("uci-online-retail", receipt={"by": ["InvoiceNo"], "lines_max": 2})
    found = select_issued(read(tmp_path / "s", wanted, write_csv(tmp_path / "a.csv", UCI, rows)))
    assert [(one.event_id, len(one.event["lines"])) for one in found] == [
        ("ONLINE-1-R", 2),
        ("ONLINE-1-R1", 1),
    ]


def test_a_receipt_that_never_ends_is_refused(tmp_path: Path) -> None:
    rows = [uci_row("1", 1, "12/1/2010 8:26")] * 10_001
    found = read(tmp_path / "s", SHAPE, write_csv(tmp_path / "a.csv", UCI, rows))
    assert find_reasons(found) == {1: "receipt: at most 10,000 lines"}


def test_equal_rows_without_a_receipts_number_are_told_apart_and_keep_their_ids(
    tmp_path: Path,
) -> None:
    wanted = load_mapping("uci-online-retail", receipt={})
    rows = [uci_row("1", 1, "12/1/2010 8:26")] * 2
    first = select_issued(read(tmp_path / "s", wanted, write_csv(tmp_path / "a.csv", UCI, rows)))
    again = write_csv(tmp_path / "b.csv", UCI, [uci_row("1", 9, "12/1/2010 8:00"), *rows])
    second = select_issued(read(tmp_path / "t", wanted, again))
    ids = [one.event_id for one in first]
    assert len(set(ids)) == 2
    assert [one.event_id for one in second][1:] == ids


def test_what_two_files_both_hold_is_there_once(tmp_path: Path) -> None:
    one, other = write_uci(tmp_path / "a.csv"), write_uci(tmp_path / "b.csv")
    alone = select_issued(read(tmp_path / "s", SHAPE, one))
    both = select_issued(read(tmp_path / "t", SHAPE, one, other))
    assert [each.event for each in both] == [each.event for each in alone]


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "jsonl", "jsonl.gz"])
def test_a_file_says_the_same_in_every_format(tmp_path: Path, ending: str) -> None:
    plain = write_uci(tmp_path / "a.csv")
    file = tmp_path / f"b.{ending}"
    if ending.endswith("gz"):
        text = plain if ending == "csv.gz" else convert(tmp_path / "c.jsonl", plain)
        file.write_bytes(gzip.compress(text.read_bytes()))
    else:
        convert(file, plain)
    expected = [one.event for one in select_issued(read(tmp_path / "s", SHAPE, plain))]
    assert [one.event for one in select_issued(read(tmp_path / "t", SHAPE, file))] == expected


def convert(file: Path, plain: Path) -> Path:
    how = "format parquet" if file.suffix == ".parquet" else "format json"
    duckdb.execute(f"copy (from read_csv('{plain}', all_varchar = true)) to '{file}' ({how})")
    return file


def test_decimals_zones_and_rounding_are_as_the_mapping_says(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('id;sku;n;when;total\n1;A;3;2011-07-01 10:00:00;"1.000,01"\n')
    wanted = Mapping.model_validate(
        {
            "rows": {"delimiter": ";", "decimal": ","},
            "time": {"column": "when", "zone": "Europe/Berlin"},
            "receipt": {"by": ["id"]},
            "fields": {"sku": "sku", "units": "n", "amount": "total", "store": {"value": "A"}},
            "money": {"currency": "EUR", "rounding": "down"},
        }
    )
    [found] = select_issued(read(tmp_path / "s", wanted, file))
    assert found.at_ms == at(2011, 7, 1, 8)
    assert found.event["lines"] == [{"sku": "A", "units": 3, "unit_price_cents": 33333}]


def test_a_time_with_an_offset_needs_no_zone(tmp_path: Path) -> None:
    row = {"id": 1, "sku": "A", "n": 1, "p": 2, "t": "2011-07-01T10:00:00+05:00"}
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(row) + "\nno row\n")
    fields = {"sku": "sku", "units": "n", "unit_price": "p", "store": {"value": "A"}}
    wanted: dict[str, Any] = {"time": {"column": "t"}, "fields": fields}
    made = Mapping.model_validate(wanted | {"money": {"currency": "EUR"}})
    found = read(tmp_path / "s", made, file)
    assert [one.at_ms for one in select_issued(found)] == [at(2011, 7, 1, 5)]
    assert find_reasons(found) == {2: "sku: expected one, found nothing"}


def test_rows_that_are_no_sales_are_skipped(tmp_path: Path) -> None:
    rows = [
        uci_row("1", 1, "12/1/2010 8:26", sku=("POST", "POSTAGE")),
        uci_row("2", 0, "12/1/2010 8:26"),
        uci_row("3", 1, "12/1/2010 8:26"),
    ]
    skip = {"skip": {"StockCode": ["POST"]}, "skip_zero_units": True}
    wanted = load_mapping("uci-online-retail", rows=skip)
    found = read(tmp_path / "s", wanted, write_csv(tmp_path / "a.csv", UCI, rows))
    assert [one.event_id for one in select_issued(found)] == ["ONLINE-3-R"]
    assert len(found) == 1


def test_opening_stock_is_the_least_that_covers_all_sales(tmp_path: Path) -> None:
    rows = [
        uci_row("1", 5, "12/1/2010 8:26"),
        uci_row("C2", -4, "12/1/2010 9:00"),
        uci_row("3", 6, "12/1/2010 10:00"),
        uci_row("4", 1, "12/1/2010 10:00", "3", LAMP),
        uci_row("5", -3, "12/1/2010 11:00", "0"),
    ]
    with closing(open_scratch(tmp_path)) as engine:
        read_lines(engine, SHAPE, [write_csv(tmp_path / "a.csv", UCI, rows)], lambda _: None)
        found = list(announce_catalog(engine, SHAPE, 1, 2))
    stock = {one.event["sku"]: one.event["units"] for one in found if one.contract is ADJUSTMENTS}
    assert stock == {"85123A": 10, "71053": 1}
    prices = [one.event for one in found if one.contract is PRICE_CHANGES]
    assert {one["sku"]: one["price_cents"] for one in prices} == {"85123A": 255, "71053": 300}
    assert not [one for one in found if isinstance(to_outgoing(one, 1), Refused)]


def test_columns_and_files_that_are_lacking_are_named(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", ["InvoiceNo", "Quantity"], [("1", 2)])
    with pytest.raises(BadMapping, match=r"StockCode.*Found: InvoiceNo, Quantity"):
        read(tmp_path / "s", SHAPE, file)
    with pytest.raises(BadMapping, match="expected columns that match"):
        read(tmp_path / "t", load_mapping("m5"), file)
    with pytest.raises(BadFile, match="should end in"):
        list_files([write_csv(tmp_path / "a.xlsx", [], [])])
    with pytest.raises(BadFile, match="there is none"):
        list_files([tmp_path / "none.csv"])


def test_a_lookup_that_would_double_rows_is_refused(tmp_path: Path) -> None:
    file = write_m5(tmp_path)
    with (tmp_path / "calendar.csv").open("a") as calendar:
        calendar.write("2011-01-29,11101,d_1\n")
    with pytest.raises(BadFile, match="one row for each"):
        read(tmp_path / "s", load_mapping("m5"), file)


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    write_uci(tmp_path / "b.csv")
    write_uci(tmp_path / "a.csv")
    (tmp_path / "notes.md").write_text("no sales")
    assert [file.name for file in list_files([tmp_path])] == ["a.csv", "b.csv"]
