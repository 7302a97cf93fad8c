"""The notebook of the documents runs on a lake."""

import json
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from contracts import STOCK_LEVELS
from infra.lake import Coverage, locate_folders
from infra.settings import Settings
from pipelines.lake.views import locate_view
from tests.notebook import NOTEBOOK, run_notebook

BYTES_MAX = 8_192
LAST = date(2026, 3, 12)
DAYS = 10


@pytest.fixture
def lake(tmp_path: Path) -> Settings:
    """Ten days of two products in two stores: B sells more, but for the fifth day."""
    settings = Settings(data_dir=tmp_path)
    facts = [
        create_fact(LAST - timedelta(days=back), store, sku, received=50, sold=sold)
        for back in range(DAYS)
        for store in ("S001", "S002")
        for sku, sold in (("A", 1), ("B", 20))
        if (back, sku) != (5, "B")
    ]
    write_deltalake(str(locate_folders(settings).daily_facts), pa.Table.from_pylist(facts))
    shelves = [{**STOCK_LEVELS.examples[0], "sku": sku} for sku in "AB"]
    locate_view(locate_folders(settings), STOCK_LEVELS).write(shelves, Coverage(1))
    return settings


def create_fact(day: date, store_id: str, sku: str, received: int, sold: int) -> dict[str, object]:
    rest = dict.fromkeys(("units_adjusted", "units_refunded", "refunded_cents"), 0)
    units = {"receipts": sold, "units_sold": sold, "sales_cents": 250 * sold}
    place = {"day": day, "store_id": store_id, "sku": sku}
    return {**place, **units, "units_received": received, **rest}


def test_the_notebook_draws_a_week(lake: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_notebook(lake, monkeypatch)
    assert names["sku"] == "B"
    week = names["week"]
    assert len(week) == 7
    assert week["day"].iloc[-1].date() == LAST
    assert week["units_sold"].tolist() == [40, 0, 40, 40, 40, 40, 40]
    assert week["units_on_hand"].tolist() == [60 * day for day in (4, 4, 5, 6, 7, 8, 9)]
    for chart in (names["chart"], names["stores"]):
        drawn = chart.to_dict()
        assert drawn["datasets"]


def test_the_notebook_is_small_and_has_no_output() -> None:
    assert NOTEBOOK.stat().st_size < BYTES_MAX
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)
