"""The tables that are written whole, on files alone: what is in them, and who can read them."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from contracts import (
    ALERTS,
    CONFIRMATIONS,
    NOTICE,
    PRICE_CHANGES,
    PURCHASE_ORDERS,
    STOCK_LEVELS,
    Contract,
    encode,
    encode_key,
)
from contracts.arrow import build_arrow_schema
from infra.folder import Folder
from infra.lake import (
    RETENTION,
    Coverage,
    Folders,
    find_newest_version,
    read_committed_ms,
    read_coverage,
)
from ops.generations.record import get_wall_now
from pipelines.lake import states
from pipelines.lake.orders import refresh_orders
from pipelines.lake.prices import compute_intervals, refresh_prices
from pipelines.lake.states import StateTable
from pipelines.lake.views import merge
from tests.services.silver import Silver

SHELF = STOCK_LEVELS.examples[0]
ALERT = ALERTS.examples[0]
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RECORDS: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "key": pa.binary(),
    "value": pa.binary(),
}
PARTITION = 1


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(Folder(str(tmp_path / "a lake")))


@pytest.fixture
def stock(folders: Folders) -> StateTable:
    return StateTable(folders.gold("stock"), build_arrow_schema(STOCK_LEVELS))


def cover(batch: int) -> Coverage:
    return Coverage(batch, {("receipts", 0): batch})


def test_a_version_is_the_whole_table_and_says_what_it_covers(stock: StateTable) -> None:
    stock.write([SHELF, {**SHELF, "sku": "B"}], cover(1))
    stock.write([{**SHELF, "units_on_hand": 5}], cover(2))
    assert stock.read() == [{**SHELF, "units_on_hand": 5}]
    assert stock.read(version=0) == [SHELF, {**SHELF, "sku": "B"}]
    assert read_coverage(stock.folder) == cover(2)
    assert read_coverage(stock.folder, version=0) == cover(1)


def test_every_reader_of_delta_opens_it(stock: StateTable) -> None:
    """Version 1 of the protocol is what all of them read; a file has plain Parquet."""
    stock.write([SHELF], cover(1))
    table = DeltaTable(str(stock.folder))
    protocol = table.protocol()
    assert (protocol.min_reader_version, protocol.reader_features) == (1, None)
    [file] = map(unquote, table.file_uris())
    query = "select sku, units_on_hand, epoch_ms(last_event_time) from "
    expected = [(SHELF["sku"], SHELF["units_on_hand"], 1_772_448_067_120)]
    engine = duckdb.connect()
    engine.register("stock", table.to_pyarrow_dataset())
    assert engine.sql(f"{query} stock").fetchall() == expected
    assert engine.sql(f"{query} read_parquet('{file}')").fetchall() == expected


def test_a_larger_table_has_fewer_versions(
    stock: StateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stock.is_due()
    stock.write([{**SHELF, "sku": name} for name in "ABC"], cover(1))
    committed = datetime.fromtimestamp(read_committed_ms(stock.folder) / 1000, UTC)
    monkeypatch.setattr(states, "ROWS_PER_SECOND_MAX", 1)
    for seconds, due in ((2.9, False), (3.0, True)):
        now = committed + timedelta(seconds=seconds)
        monkeypatch.setattr(states, "get_wall_now", lambda now=now: now)
        assert stock.is_due() == due


def test_files_of_a_killed_write_go_once_their_retention_is_over(
    stock: StateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "VACUUM_BATCHES", 2)
    stock.write([SHELF], cover(1))
    young, old = (Path(str(stock.folder)) / f"{name}.parquet" for name in ("young", "old"))
    for file in (young, old):
        file.write_bytes(b"half a file")
    over = (get_wall_now() - RETENTION - timedelta(minutes=1)).timestamp()
    os.utime(old, (over, over))
    stock.write([SHELF], cover(2))
    assert not old.exists()
    assert stock.read(version=0) == [SHELF]


def test_the_newest_row_of_a_key_counts() -> None:
    other, newer = {**SHELF, "sku": "B"}, {**SHELF, "units_on_hand": -1}
    assert merge(STOCK_LEVELS, [SHELF, other], [newer]) == [newer, other]


def test_a_row_goes_once_its_retention_is_over() -> None:
    assert ALERTS.retention is not None
    last = {**ALERT, "interval_start": ALERT["interval_start"] - ALERTS.retention}
    over = {**ALERT, "interval_start": last["interval_start"] - timedelta(milliseconds=1)}
    assert merge(ALERTS, [over, last], [ALERT]) == [last, ALERT]
    assert merge(ALERTS, [ALERT], [over]) == [ALERT]


def publish(folders: Folders, topic: Contract, *values: dict[str, Any] | None) -> None:
    """Append records to bronze, as the lake has them; None: one that nobody can decode."""
    before = read_coverage(folders.bronze)
    start = before.ends.get((topic.name, PARTITION), 0)
    rows = [
        {
            "topic": topic.name,
            "partition": PARTITION,
            "offset": offset,
            "timestamp": 2**62,  # in no year of a calendar
            "key": encode_key(topic, value) if value else None,
            "value": encode(topic, value) if value else b"?",
        }
        for offset, value in enumerate(values, start)
    ]
    after = before.then({(topic.name, PARTITION): start + len(rows)})
    write_deltalake(
        str(folders.bronze),
        pa.Table.from_pylist(rows, pa.schema(RECORDS)),
        mode="append",
        partition_by=["topic"],
        commit_properties=CommitProperties(custom_metadata={"userMetadata": after.to_json()}),
    )


def index_orders(folders: Folders) -> dict[str, tuple[Any, Any]]:
    """By id: the units that were ordered and that were shipped."""
    rows = DeltaTable(str(folders.gold("orders"))).to_pyarrow_table().to_pylist()
    return {row["purchase_order_id"]: (row["units"], row["shipped_units"]) for row in rows}


def order(name: str, **changes: Any) -> dict[str, Any]:
    return {**PURCHASE_ORDERS.examples[0], "purchase_order_id": name, **changes}


def confirm(name: str, **changes: Any) -> dict[str, Any]:
    return {**CONFIRMATIONS.examples[0], "purchase_order_id": name, **changes}


def test_an_order_is_one_row_with_its_confirmation(folders: Folders) -> None:
    publish(folders, PURCHASE_ORDERS, order("A"), None, order("B"))
    publish(folders, CONFIRMATIONS, confirm("A", shipped_units=12))
    refresh_orders(folders)
    assert index_orders(folders) == {"A": (24, 12), "B": (24, None)}
    publish(folders, CONFIRMATIONS, confirm("B", shipped_units=0))
    refresh_orders(folders)
    assert index_orders(folders) == {"A": (24, 12), "B": (24, 0)}


def test_of_an_order_the_first_record_counts(folders: Folders) -> None:
    publish(folders, PURCHASE_ORDERS, order("A"), order("A", units=36))
    publish(folders, CONFIRMATIONS, confirm("A"), confirm("A", shipped_units=0))
    refresh_orders(folders)
    assert index_orders(folders) == {"A": (24, 12)}


def test_a_confirmation_may_be_in_bronze_before_its_order(folders: Folders) -> None:
    publish(folders, CONFIRMATIONS, confirm("A"))
    refresh_orders(folders)
    assert index_orders(folders) == {"A": (None, 12)}
    publish(folders, PURCHASE_ORDERS, order("A"))
    refresh_orders(folders)
    assert index_orders(folders) == {"A": (24, 12)}


def test_what_brings_nothing_new_makes_no_version(folders: Folders) -> None:
    publish(folders, PURCHASE_ORDERS, order("A"))
    refresh_orders(folders)
    publish(folders, STOCK_LEVELS, dict(SHELF))
    refresh_orders(folders)
    assert find_newest_version(folders.gold("orders")) == 0


def test_a_price_holds_until_the_next_one_and_with_notice(folders: Folders) -> None:
    silver = Silver(folders, (PRICE_CHANGES,))
    late = NOON + timedelta(hours=1)
    for cents, at, published in ((100, NOON, NOON - NOTICE), (200, NOON, NOON), (300, late, NOON)):
        silver.put(PRICE_CHANGES, sku="A", price_cents=cents, effective_at=at, _published=published)
    refresh_prices(folders)
    rows = DeltaTable(str(folders.gold("prices"))).to_pyarrow_table().to_pylist()
    assert [(row["price_cents"], row["holds_from"], row["holds_until"]) for row in rows] == [
        (100, NOON, NOON + NOTICE),
        (200, NOON + NOTICE, late),
        (300, late, None),
    ]


def compute_prices(*changes: tuple[str, int, int]) -> list[tuple[str, int, int | None]]:
    """From sku, price and effect, each in the order of publication: sku, price and end."""
    named = [
        {"sku": sku, "price_cents": cents, "effective_at": at, "_published": 0, "_offset": offset}
        for offset, (sku, cents, at) in enumerate(changes)
    ]
    return read_prices(compute_intervals(named))


def read_prices(rows: Iterable[dict[str, Any]]) -> list[tuple[str, int, int | None]]:
    return [(row["sku"], row["price_cents"], row["holds_until"]) for row in rows]


HOUR, FAR = 3_600_000_000, 2**63 - 808


def test_of_prices_that_hold_from_one_moment_the_last_one_counts() -> None:
    prices = compute_prices(("A", 1, HOUR), ("B", 2, HOUR), ("A", 3, HOUR), ("A", 4, 2 * HOUR))
    assert prices == [("A", 3, 2 * HOUR), ("A", 4, None), ("B", 2, None)]


def test_a_price_at_a_time_that_no_calendar_has_is_a_price(folders: Folders) -> None:
    assert compute_prices(("A", 1, HOUR), ("A", 2, FAR)) == [
        ("A", 1, FAR // 1000 * 1000),
        ("A", 2, None),
    ]
    silver = Silver(folders, (PRICE_CHANGES,))
    silver.append(
        PRICE_CHANGES,
        [{**PRICE_CHANGES.examples[0], "effective_at": FAR, "_published": 2**63 - 1, "_offset": 0}],
        cover(1),
    )
    refresh_prices(folders)
    assert DeltaTable(str(folders.gold("prices"))).count() == 1
