import json
from pathlib import Path
from typing import Any

import pytest

from infra.folder import Folder
from infra.lake import (
    Coverage,
    UnknownCoverage,
    flatten_topics,
    group_by_topic,
    read_committed_ms,
    read_coverage,
)

AT = ("public.sales.receipt.v1", 0)
FIRST, SECOND = Coverage().then({AT: 5}), Coverage().then({AT: 5}).then({AT: 9})


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    return Folder(str(tmp_path))


def commit(table: Folder, version: int, operation: str, coverage: Coverage | None = None) -> None:
    information: dict[str, Any] = {"operation": operation, "timestamp": 1000 * version}
    if coverage is not None:
        information["userMetadata"] = coverage.to_json()
    log = Path(str(table), "_delta_log")
    log.mkdir(exist_ok=True)
    lines = [{"commitInfo": information}, {"txn": {"appId": "lake", "version": version}}]
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_no_table_holds_nothing_and_each_version_says_what_was_held_then(table: Folder) -> None:
    assert read_coverage(table) == Coverage()
    assert read_committed_ms(table) == 0
    commit(table, 0, "CREATE TABLE")
    commit(table, 1, "WRITE", FIRST)
    commit(table, 2, "WRITE", SECOND)
    assert [read_coverage(table, version) for version in range(3)] == [Coverage(), FIRST, SECOND]
    assert read_coverage(table) == SECOND
    assert read_committed_ms(table) == 2000
    assert read_committed_ms(table, 1) == 1000


def test_who_only_joins_files_need_not_say_it_and_who_writes_is_found_out(table: Folder) -> None:
    commit(table, 1, "WRITE", FIRST)
    commit(table, 2, "OPTIMIZE")
    assert read_coverage(table) == FIRST
    commit(table, 3, "WRITE")
    with pytest.raises(UnknownCoverage):
        read_coverage(table)


def test_offsets_are_spelled_by_topic_and_partition_and_understood_again() -> None:
    offsets = {("sales", 0): 5, ("stock", 2): 1, ("sales", 11): 9}
    by_topic = {"sales": {"0": 5, "11": 9}, "stock": {"2": 1}}
    assert group_by_topic(offsets) == by_topic
    assert flatten_topics(by_topic) == offsets
