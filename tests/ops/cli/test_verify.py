"""What differs can be seen at a glance, and all of it in a file."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts import ALERTS, STOCK_LEVELS
from infra.errors import UserError
from infra.settings import Settings
from ops.cli.verify import (
    ROWS_SHOWN_MAX,
    TEXT_WIDTH,
    render_differences,
    write_differences,
)
from ops.verify.inventory import Row
from ops.verify.verdict import compare_view
from tests.ops.cli.commands import run_command

SHELF: Row = {**STOCK_LEVELS.examples[0], "store_id": "S001", "sku": "A", "units_sold": 3}


def test_a_row_shows_its_key_and_only_the_fields_that_differ() -> None:
    difference = compare_view(STOCK_LEVELS, [SHELF], [{**SHELF, "units_sold": 4}])
    key, field = render_differences(difference)
    assert key.strip() == "S001/A"
    assert field.split() == ["units_sold", "live", "3", "oracle", "4"]


def test_a_row_that_one_side_lacks_says_who_has_it() -> None:
    live_only = list(render_differences(compare_view(STOCK_LEVELS, [SHELF], [])))
    oracle_only = list(render_differences(compare_view(STOCK_LEVELS, [], [SHELF])))
    assert [line.strip() for line in live_only] == ["S001/A", "only live has it"]
    assert [line.strip() for line in oracle_only] == ["S001/A", "only the oracle has it"]


def test_a_long_value_is_cut_and_a_time_is_readable() -> None:
    row: Row = dict(ALERTS.examples[0])
    later = {**row, "decided_at": datetime(2026, 3, 2, 11, tzinfo=UTC)}
    [_, cut] = render_differences(compare_view(ALERTS, [row], [{**row, "store_id": "S" * 500}]))
    assert len(cut) < 4 * TEXT_WIDTH
    [_, field] = render_differences(compare_view(ALERTS, [later], [row]))
    assert "live 2026-03-02T11:00:00.000+00:00" in field


def test_only_the_first_rows_are_shown_and_all_are_written(tmp_path: Path) -> None:
    many = [{**SHELF, "sku": f"SKU-{number:03}"} for number in range(ROWS_SHOWN_MAX + 5)]
    difference = compare_view(STOCK_LEVELS, many, [])
    assert list(render_differences(difference))[-1].strip() == "and 5 more rows"
    file = write_differences(Settings(data_dir=tmp_path), "inventory", (difference,))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["live"]["sku"] for row in rows] == [row["sku"] for row in many]
    assert {(row["view"], row["oracle"]) for row in rows} == {(STOCK_LEVELS.name, None)}


def test_the_lake_is_compared_as_a_whole() -> None:
    with pytest.raises(UserError, match="leave the pipeline out"):
        run_command("verify", "inventory", "--lake")
