"""A table's commits say up to where it holds the log."""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.lake import Held, Unsaid, committed_ms, held

AT = ("public.sales.receipt.v1", 0)
FIRST, SECOND = Held().then({AT: 5}), Held().then({AT: 5}).then({AT: 9})


def commit(table: Path, version: int, operation: str, said: Held | None = None) -> None:
    told: dict[str, Any] = {"operation": operation, "timestamp": 1000 * version}
    if said is not None:
        told["userMetadata"] = said.said()
    log = table / "_delta_log"
    log.mkdir(exist_ok=True)
    lines = [{"commitInfo": told}, {"txn": {"appId": "lake", "version": version}}]
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_where_there_is_no_table_nothing_is_held(tmp_path: Path) -> None:
    assert held(tmp_path) == Held()
    assert committed_ms(tmp_path) == 0


def test_each_version_says_what_was_held_then(tmp_path: Path) -> None:
    commit(tmp_path, 0, "CREATE TABLE")
    commit(tmp_path, 1, "WRITE", FIRST)
    commit(tmp_path, 2, "WRITE", SECOND)
    assert [held(tmp_path, version) for version in range(3)] == [Held(), FIRST, SECOND]
    assert held(tmp_path) == SECOND
    assert committed_ms(tmp_path) == 2000


def test_who_only_joins_files_need_not_say_it(tmp_path: Path) -> None:
    commit(tmp_path, 1, "WRITE", FIRST)
    commit(tmp_path, 2, "OPTIMIZE")
    assert held(tmp_path) == FIRST


def test_who_writes_and_does_not_say_it_is_found_out(tmp_path: Path) -> None:
    commit(tmp_path, 1, "WRITE", FIRST)
    commit(tmp_path, 2, "WRITE")
    with pytest.raises(Unsaid):
        held(tmp_path)
