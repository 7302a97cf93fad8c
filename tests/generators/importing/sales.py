"""Small made-up files in the shapes that retailers publish."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from generators.importing.engine import open_scratch
from generators.importing.events import (
    Issued,
    Refused,
    announce_catalog,
    issue_events,
    refuse_unplaced,
    to_outgoing,
)
from generators.importing.mapping import Mapping, read_mapping
from generators.importing.reading import read_lines
from infra.settings import locate_root

HEADER = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"
UCI = HEADER.split(",")
MUG, LAMP = ("85123A", "WHITE MUG"), ("71053", "LAMP")


def uci_row(
    invoice: str, units: object, time: str, price: str = "2.55", sku: tuple[str, str] = MUG
) -> Sequence[object]:
    return invoice, *sku, units, time, price, "17850", "United Kingdom"


def write_csv(file: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(head)
        writer.writerows(rows)
    return file


def write_uci(file: Path) -> Path:
    """Two receipts, a refund, a loss, a row without a number of units, one without a time."""
    return write_rows(
        file,
        uci_row("536365", 6, "12/1/2010 8:26"),
        uci_row("536365", 2, "12/1/2010 8:27", "3.395", LAMP),
        uci_row("536366", 1, "12/1/2010 9:00", "0.00"),
        uci_row("C536379", -1, "12/1/2010 9:41"),
        uci_row("536380", -3, "12/1/2010 9:50", "0"),
        uci_row("536381", "many", "12/1/2010 10:00"),
        uci_row("536381", 1, "12/1/2010 10:00"),
        uci_row("536382", 1, "yesterday"),
        uci_row("536383", 1, "12/1/2010 11:00", "-5"),
    )


def write_rows(file: Path, *rows: Sequence[object]) -> Path:
    return write_csv(file, UCI, rows)


def write_m5(
    folder: Path,
    days: int = 8,
    first: date = date(2011, 1, 29),
    stores: Sequence[str] = ("CA_1", "TX_1"),
) -> Path:
    """Two products of one department in some stores over some days, with a calendar and prices."""
    names = [f"d_{day}" for day in range(1, days + 1)]
    units = {"FOODS_1_001": [day % 3 for day in range(days)], "FOODS_1_002": [1] * days}
    sold = [
        [f"{item}_{store}", item, "FOODS_1", "FOODS", store, store[:2], *units[item]]
        for store in stores
        for item in units
    ]
    head = ["id", "item_id", "dept_id", "cat_id", "store_id", "state_id", *names]
    week = [11101 + day // 7 for day in range(days)]
    dates = [(first + timedelta(days=day), week[day], names[day]) for day in range(days)]
    write_csv(folder / "calendar.csv", ["date", "wm_yr_wk", "d"], dates)
    prices = [
        (store, item, number, f"{price}.{number % 100:02}")
        for store in stores
        for item, price in (("FOODS_1_001", 2), ("FOODS_1_002", 3))
        for number in sorted(set(week))
    ]
    columns = ["store_id", "item_id", "wm_yr_wk", "sell_price"]
    write_csv(folder / "sell_prices.csv", columns, prices)
    return write_csv(folder / "sales_train.csv", head, sold)


def load_mapping(name: str, **changes: object) -> Mapping:
    mapping = read_mapping(locate_root() / "generators" / "importing" / "mappings" / f"{name}.yaml")
    return Mapping.model_validate(mapping.model_dump(by_alias=True) | changes)


FIELDS = {"sku": "sku", "units": "qty", "unit_price": "price", "store": {"value": "LEEDS"}}


def create_mapping(**changes: Any) -> Mapping:
    """Of `id;when;sku;qty;price` with decimal commas, with some keys otherwise."""
    shape = {
        "rows": {"delimiter": ";", "decimal": ","},
        "time": {"column": "when", "format": "%Y-%m-%d %H:%M"},
        "receipt": {"by": ["id"]},
        "fields": FIELDS,
        "money": {"currency": "EUR"},
    }
    return Mapping.model_validate(shape | changes)


def read(wanted: Mapping, *files: Path) -> list[Issued | Refused]:
    """What the files hold, in the order in which it happened."""
    with load_lines(wanted, *files) as engine:
        return list_outcomes(engine, wanted)


def list_outcomes(engine: duckdb.DuckDBPyConnection, wanted: Mapping) -> list[Issued | Refused]:
    return [*refuse_unplaced(engine), *issue_events(engine, wanted)]


def read_issued(wanted: Mapping, *files: Path) -> list[Issued]:
    return select_issued(read(wanted, *files))


def announce(wanted: Mapping, file: Path) -> list[Issued]:
    """The catalog that the file's lines are of; a contract accepts every event."""
    with load_lines(wanted, file) as engine:
        announced = list(announce_catalog(engine, wanted, 1, 2))
    assert not [issued for issued in announced if isinstance(to_outgoing(issued, 1), Refused)]
    return announced


@contextmanager
def load_lines(wanted: Mapping, *files: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with TemporaryDirectory() as folder, closing(open_scratch(Path(folder))) as engine:
        read_lines(engine, wanted, files, lambda _: None)
        yield engine


def select_issued(read_rows: Iterable[Issued | Refused]) -> list[Issued]:
    return [outcome for outcome in read_rows if isinstance(outcome, Issued)]


def find_reasons(read_rows: Iterable[Issued | Refused]) -> dict[int, str]:
    return {
        outcome.row: outcome.reasons[0] for outcome in read_rows if isinstance(outcome, Refused)
    }


def at(year: int, month: int, day: int, hour: int, minute: int = 0) -> int:
    """Epoch milliseconds of a moment in UTC."""
    return round(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


SHAPE = load_mapping("uci-online-retail")
