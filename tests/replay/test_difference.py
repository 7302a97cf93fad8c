"""A known change is found as it is: what came, went, moved, and by how much."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts import ALERTS, CONTRACTS, STOCK_LEVELS, Contract
from contracts.documents import to_document
from ops.replay.difference import (
    Comparison,
    Difference,
    Facet,
    Total,
    render_json_lines,
    render_parquet,
)

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
