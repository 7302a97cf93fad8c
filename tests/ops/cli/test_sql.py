"""retail sql, on Delta tables as the lake writes them, by the library that other readers use."""

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from contracts import RECEIPTS
from infra.lake import locate_folders
from infra.settings import Settings
from ops.cli.sql import read_queries
from tests.command import run_command

EVENTS = 5
MOVES = ("units_received", "units_adjusted", "units_refunded", "units_sold")


def create_fact(day: int, sku: str, *units: int) -> dict[str, object]:
    return {
        "day": date(2026, 3, day),
        "store_id": "S001",
        "sku": sku,
        **dict(zip(MOVES, units, strict=True)),
    }


FACTS = [
    create_fact(2, "A", 40, 0, 0, 7),
    create_fact(2, "B", 0, 5, 0, 6),
    create_fact(5, "A", 0, -2, 1, 3),
    create_fact(5, "C", 8, 0, 0, 0),
]
"""Nothing moved on the 3rd and 4th; C came on the 5th."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A lake with the events 0 to 4 as receipts, in two commits."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("lake"))
    for event_ids in (["0", "1"], ["2", "3", "4"]):
        folder = locate_folders(settings).silver(RECEIPTS)
        rows = pa.table({"event_id": event_ids, "_value": [name.encode() for name in event_ids]})
        write_deltalake(str(folder), rows, mode="append")
    write_deltalake(str(locate_folders(settings).daily_facts), pa.Table.from_pylist(FACTS))
    write_deltalake(str(locate_folders(settings).gold("stock")), pa.table({"sku": ["A"]}))
    return settings


def ask(lake: Settings, *words: object) -> list[dict[str, object]]:
    answered = run_command(lake, "sql", *words, "--json")
    assert answered.returncode == 0, answered.stderr
    return [json.loads(line) for line in answered.stdout.splitlines()]


def test_an_answer_covers_every_commit(lake: Settings) -> None:
    query = "select count(*) as events, max(event_id) as last from silver.receipt"
    assert ask(lake, query) == [{"events": EVENTS, "last": "4"}]


def test_tables_of_states_are_in_gold(lake: Settings) -> None:
    assert ask(lake, "select * from gold.stock") == [{"sku": "A"}]


def test_a_day_ends_with_all_that_moved_until_then(lake: Settings) -> None:
    query = "select day(day) as day, sku, units_on_hand from gold.stock_days order by all"
    held = [tuple(row.values()) for row in ask(lake, query)]
    of_a, of_b = [(2, 33), (3, 33), (4, 33), (5, 29)], [(day, -1) for day in (2, 3, 4, 5)]
    assert [(day, units) for day, sku, units in held if sku == "A"] == of_a
    assert [(day, units) for day, sku, units in held if sku == "B"] == of_b
    assert [row for row in held if row[1] == "C"] == [(5, "C", 8)]


def test_a_value_that_json_lacks_has_a_form(lake: Settings) -> None:
    query = """
        select timestamptz '2026-03-02 10:00:00+00' as time, _value, 1.5::decimal(3, 2) as sum
        from silver.receipt where event_id = '0'
    """
    assert ask(lake, query) == [{"time": "2026-03-02T10:00:00.000Z", "_value": "30", "sum": "1.50"}]


def test_a_table_on_the_screen_ends_at_the_most_rows(lake: Settings) -> None:
    query = "select event_id from silver.receipt order by event_id"
    answered = run_command(lake, "sql", query, "--max", EVENTS - 1)
    assert answered.stdout.split() == ["event_id", "0", "1", "2", "3"]
    assert "more than 4 rows" in answered.stderr
    whole = run_command(lake, "sql", query, "--max", EVENTS)
    assert "more than" not in whole.stderr


def test_a_mistake_says_what_was_wrong_and_where_the_tables_are(lake: Settings) -> None:
    answered = run_command(lake, "sql", "select * from silver.recepit")
    assert answered.returncode == 1
    assert "recepit" in answered.stderr
    assert "show all tables" in answered.stderr
    assert "Traceback" not in answered.stderr


def test_a_shop_without_a_lake_says_how_to_get_one(tmp_path: Path) -> None:
    answered = run_command(Settings(data_dir=tmp_path), "sql", "select 1")
    assert answered.returncode == 1
    assert "make up LAKE=on" in answered.stderr


def test_a_query_at_the_prompt_ends_with_its_semicolon(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["select 1", "  as one; ", "show all tables;", "select"])

    def type_line(_: str) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", type_line)
    assert list(read_queries()) == ["select 1\n  as one; ", "show all tables;"]
