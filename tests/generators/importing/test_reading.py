"""From files to rows: formats, decimals, zones, and what cannot be read."""

import gzip
from pathlib import Path

import duckdb
import pytest

from generators.importing.files import list_files
from infra.errors import UserError
from tests.generators.importing.sales import (
    SHAPE,
    load_mapping,
    read,
    read_issued,
    write_csv,
    write_m5,
    write_uci,
)


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "jsonl", "jsonl.gz"])
def test_a_file_says_the_same_in_every_format(tmp_path: Path, ending: str) -> None:
    plain = write_uci(tmp_path / "a.csv")
    file = tmp_path / f"b.{ending}"
    if ending.endswith("gz"):
        text = plain if ending == "csv.gz" else convert(tmp_path / "c.jsonl", plain)
        file.write_bytes(gzip.compress(text.read_bytes()))
    else:
        convert(file, plain)
    expected = [issued.event for issued in read_issued(SHAPE, plain)]
    assert [issued.event for issued in read_issued(SHAPE, file)] == expected


def convert(file: Path, plain: Path) -> Path:
    how = "format parquet" if file.suffix == ".parquet" else "format json"
    duckdb.execute(f"copy (from read_csv('{plain}', all_varchar = true)) to '{file}' ({how})")
    return file


def test_columns_and_files_that_are_lacking_are_named(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", ["InvoiceNo", "Quantity"], [("1", 2)])
    with pytest.raises(UserError, match=r"StockCode.*Found: InvoiceNo, Quantity"):
        read(SHAPE, file)
    with pytest.raises(UserError, match="expected columns that match"):
        read(load_mapping("m5", lookups=[]), file)
    with pytest.raises(UserError, match="should end in"):
        list_files([write_csv(tmp_path / "a.pdf", [], [])])
    with pytest.raises(UserError, match="there is none"):
        list_files([tmp_path / "none.csv"])


def test_a_lookup_that_would_double_rows_is_refused(tmp_path: Path) -> None:
    file = write_m5(tmp_path)
    with (tmp_path / "calendar.csv").open("a") as calendar:
        calendar.write("2011-01-29,11101,d_1\n")
    with pytest.raises(UserError, match="one row for each"):
        read(load_mapping("m5"), file)
