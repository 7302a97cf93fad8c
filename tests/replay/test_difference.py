"""What differs: rows of two answers, thresholds and files of two copies of the code."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts import ALERTS, CONTRACTS, MARKDOWN_PROPOSALS, STOCK_LEVELS, Contract
from contracts.documents import to_document
from infra.errors import UserError
from infra.settings import locate_root
from ops.replay.compare import FILES_MAX, Changes, find_changes
from ops.replay.difference import (
    Comparison,
    Difference,
    Facet,
    Total,
    render_json_lines,
    render_parquet,
)
from ops.replay.thresholds import edit

BEST_SELLERS = CONTRACTS["public.analytics.best-seller.v1"]

Rows = list[dict[str, Any]]


def compare(
    folder: Path, view: Contract, before: Rows, after: Rows, since: str | None = None
) -> Difference:
    """As it is done: what is served as lines of JSON, what was replayed as Parquet."""
    served = folder / "served.ndjson"
    served.write_text("".join(json.dumps(to_document(view, row)) + "\n" for row in before))
    replayed = folder / "replayed"
    replayed.mkdir()
    table = pa.Table.from_pylist(after or before)
    pq.write_table(
        table if after else table.slice(0, 0),
        replayed / "part.parquet",
        use_deprecated_int96_timestamps=True,  # as Spark writes them
    )
    relations = render_json_lines(view, served), render_parquet(replayed)
    return Comparison(view, *relations, since, folder / "spill").compute()


def shelf(sku: str, **changes: Any) -> dict[str, Any]:
    return {**STOCK_LEVELS.examples[0], "sku": sku, **changes}


@pytest.mark.parametrize("view", [STOCK_LEVELS, ALERTS, BEST_SELLERS])
def test_the_same_rows_do_not_differ(tmp_path: Path, view: Contract) -> None:
    rows = [dict(view.examples[0])]
    difference = compare(tmp_path, view, rows, rows)
    assert difference.empty
    assert (difference.before, difference.after) == (1, 1)


def test_rows_that_come_go_and_change_are_told_apart(tmp_path: Path) -> None:
    before = [shelf("A"), shelf("B"), shelf("C", units_sold=5)]
    after = [shelf("A"), shelf("C", units_sold=8), shelf("D"), shelf("E")]
    difference = compare(tmp_path, STOCK_LEVELS, before, after)
    assert (difference.added, difference.removed, difference.changed) == (2, 1, 1)
    sold = STOCK_LEVELS.examples[0]["units_sold"]
    assert Total("units_sold", 2 * sold + 5, 3 * sold + 8) in difference.totals
    changed, *rest = difference.largest
    assert changed.key["sku"] == "C"
    assert (changed.before, changed.after) == ({"units_sold": 5}, {"units_sold": 8})
    assert [sample.key["sku"] for sample in rest] == ["D", "E", "B"]


def test_a_price_that_there_was_not_is_among_the_largest_changes(tmp_path: Path) -> None:
    """And the difference says what prices come to, in cents."""
    example = MARKDOWN_PROPOSALS.examples[0]
    before, after = (
        [{**example, "sku": sku, "markdown_price_cents": cents} for sku, cents in prices.items()]
        for prices in ({"A": 180, "B": 190, "C": None}, {"A": 181, "B": 192, "C": 150})
    )
    difference = compare(tmp_path, MARKDOWN_PROPOSALS, before, after)
    assert Total("markdown_price_cents", 370, 523) in difference.totals
    assert [sample.key["sku"] for sample in difference.largest] == ["C", "B", "A"]


def test_a_view_that_says_nothing_any_more_is_all_removed(tmp_path: Path) -> None:
    difference = compare(tmp_path, STOCK_LEVELS, [shelf("A"), shelf("B")], [])
    assert (difference.before, difference.after, difference.removed) == (2, 0, 2)


def test_texts_with_few_values_say_where_rows_moved(tmp_path: Path) -> None:
    alert = dict(ALERTS.examples[0])
    more = {**alert, "subject": "tok_other"}
    difference = compare(tmp_path, ALERTS, [alert], [alert, more])
    assert Facet("rule", alert["rule"], 1, 2) in difference.facets


def test_what_readers_have_dropped_is_not_missed(tmp_path: Path) -> None:
    row = dict(BEST_SELLERS.examples[0])
    begins: datetime = row["window_start"]
    older = {**row, "window_start": begins - timedelta(days=9)}
    difference = compare(tmp_path, BEST_SELLERS, [row], [older, row], since=begins.isoformat())
    assert difference.empty


def test_a_nested_list_that_differs_is_a_change(tmp_path: Path) -> None:
    alert = dict(ALERTS.examples[0])
    difference = compare(tmp_path, ALERTS, [alert], [{**alert, "evidence": 2 * alert["evidence"]}])
    assert (difference.changed, difference.added) == (1, 0)


THRESHOLDS = """class Thresholds:
    cents_max: int = 5
    receipts_min: int = 3
    unread_max: int = 1
"""


@pytest.fixture
def codes(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a pipeline of three thresholds."""
    for name in ("before", "after"):
        folder = tmp_path / name / "pipelines" / "toy"
        folder.mkdir(parents=True)
        (folder / "thresholds.py").write_text(THRESHOLDS)
    return tmp_path / "before", tmp_path / "after"


def find_toy_changes(codes: tuple[Path, Path]) -> Changes:
    changes = find_changes(*codes, "toy")
    assert changes is not None
    return changes


def change(code: Path, old: str, new: str, name: str = "thresholds.py") -> None:
    file = code / "pipelines" / "toy" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_threshold_that_comes_or_goes_is_told(codes: tuple[Path, Path]) -> None:
    change(codes[1], "    cents_max: int = 5\n", "    euros_max: int = 5\n")
    lines = [str(threshold) for threshold in find_toy_changes(codes).thresholds]
    assert lines == ["cents_max 5 → none", "euros_max none → 5"]


def test_the_same_code_has_no_changes_and_of_one_elsewhere_nothing_is_told(
    codes: tuple[Path, Path],
) -> None:
    changes = find_toy_changes(codes)
    assert (changes.thresholds, changes.files) == ((), ())
    assert find_changes(codes[0], codes[1] / "elsewhere", "toy") is None


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_files_that_differ_are_named_up_to_a_limit(codes: tuple[Path, Path], more: int) -> None:
    for name in range(FILES_MAX + more):
        (codes[1] / "pipelines" / "toy" / f"module_{name}.py").write_text("")
    assert len(find_toy_changes(codes).files) == min(FILES_MAX, FILES_MAX + more)


def test_files_of_another_pipeline_do_not_count(codes: tuple[Path, Path]) -> None:
    for name in ("other", "common", "engine"):
        folder = codes[1] / "pipelines" / name
        folder.mkdir()
        (folder / "module.py").write_text("")
    assert find_toy_changes(codes).files == (
        "pipelines/common/module.py",
        "pipelines/engine/module.py",
    )


def test_only_the_line_of_the_threshold_changes() -> None:
    [(file, text)] = edit(locate_root(), "fraud", ["card_sales_per_window_max=3"]).items()
    before = (locate_root() / file).read_text().splitlines()
    [changed] = [
        (old, new) for old, new in zip(before, text.splitlines(), strict=True) if old != new
    ]
    assert "card_sales_per_window_max: int = 5" in changed[0]
    assert changed[1] == changed[0].replace("= 5", "= 3")


def test_nothing_set_is_nothing_changed() -> None:
    assert edit(locate_root(), "inventory", []) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("mood=3", "expected one of .*card_sales_per_window_max"),
        ("card_sales_per_window_max=some", "whole number, found 'some'"),
        ("card_sales_per_window_max", "NAME=VALUE"),
        ("card_sales_window=3", "expected one of"),
    ],
)
def test_what_cannot_be_set_is_said(setting: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        edit(locate_root(), "fraud", [setting])


def test_a_pipeline_without_thresholds_says_so() -> None:
    with pytest.raises(UserError, match="has no thresholds"):
        edit(locate_root(), "inventory", ["low=3"])
