import json
from pathlib import Path

import pytest

from contracts import STOCK_LEVELS
from infra.errors import UserError
from infra.settings import Settings
from ops.cli.verify import write_differences
from ops.verify.comparison import compare_view
from ops.verify.inventory import Row
from tests.ops.cli.commands import run_command

SHELF: Row = {**STOCK_LEVELS.examples[0], "store_id": "S001", "sku": "A", "units_sold": 3}


def test_every_row_that_differs_is_written_as_both_have_it(tmp_path: Path) -> None:
    many = [{**SHELF, "sku": f"SKU-{number:03}"} for number in range(25)]
    difference = compare_view(STOCK_LEVELS, many, [])
    file = write_differences(Settings(data_dir=tmp_path), "inventory", (difference,))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["live"]["sku"] for row in rows] == [row["sku"] for row in many]
    assert {(row["view"], row["oracle"]) for row in rows} == {(STOCK_LEVELS.name, None)}


def test_the_lake_is_compared_as_a_whole() -> None:
    with pytest.raises(UserError, match="leave the pipeline out"):
        run_command("verify", "inventory", "--lake")
