"""Two engines, one verdict: what SQL says of a record is what Python says."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import CONTRACTS, Contract, Row, render_rule_sql, render_spark_ddl
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import typed, valid

if TYPE_CHECKING:
    import duckdb

FLAT = [
    name for name, contract in CONTRACTS.items() if not any(field.item for field in contract.fields)
]


@pytest.fixture(scope="module")
def duck() -> "Iterator[duckdb.DuckDBPyConnection]":
    # Not at the top: hypothesis holds on to this module, and DuckDB complains of it at exit.
    import duckdb

    connection = duckdb.connect()
    connection.execute("create macro regexp_like(x, p) as regexp_matches(x, p)")
    yield connection
    connection.close()


@pytest.mark.parametrize("name", FLAT)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_python_and_sql_name_the_same_broken_rules(
    duck: "duckdb.DuckDBPyConnection", name: str, data: st.DataObject
) -> None:
    record = data.draw(typed(CONTRACTS[name]))
    assert find_broken_in_sql(duck, CONTRACTS[name], record) == find_broken_rules(
        CONTRACTS[name], record
    )


@pytest.mark.parametrize("name", FLAT)
def test_sql_breaks_every_invalid_example_by_its_rule(
    duck: "duckdb.DuckDBPyConnection", name: str
) -> None:
    for example in CONTRACTS[name].invalid_examples:
        assert find_broken_in_sql(duck, CONTRACTS[name], example.value) == {example.rule}


@pytest.mark.parametrize("name", CONTRACTS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_record_made_to_be_valid_is_valid(name: str, data: st.DataObject) -> None:
    assert find_broken_rules(CONTRACTS[name], data.draw(valid(CONTRACTS[name]))) == set()


def test_a_prefix_stands_before_every_field() -> None:
    rules = dict(render_rule_sql(CONTRACTS["public.catalog.store.v1"], prefix="event."))
    assert rules["opens_at_minute is less than closes_at_minute"] == (
        "coalesce(event.opens_at_minute < event.closes_at_minute, true)"
    )


def test_a_rule_of_an_item_is_asked_of_all_items() -> None:
    rules = dict(render_rule_sql(CONTRACTS["public.sales.receipt.v1"]))
    assert rules["lines[].units is at least 1"] == "coalesce(array_min(lines.units) >= 1, true)"
    assert r"'(?:^|/)(?![^/]{1,64}(?:/|\\z))'" in rules["lines[].sku matches ^[^/]{1,64}$"]
    assert not any("->" in rule for rule in rules.values())


def find_broken_in_sql(
    duck: "duckdb.DuckDBPyConnection", contract: Contract, record: Row
) -> set[str]:
    """The rules that are false in DuckDB; none may be null."""
    types = [column.split(" ") for column in render_spark_ddl(contract).split(", ")]
    columns = ", ".join(f'?::{sql_type} as "{name}"' for name, sql_type in types)
    names, rules = zip(*render_rule_sql(contract, prefix="event."), strict=True)
    # A backslash needs no escape in DuckDB's strings.
    asked = ", ".join(rules).replace("\\\\", "\\")
    row = duck.execute(
        f"select {asked} from (select {columns}) as event",
        [drop_zone(record[name]) for name, _ in types],
    ).fetchone()
    assert row is not None
    assert None not in row
    return {rule for rule, holds in zip(names, row, strict=True) if not holds}


def drop_zone(value: object) -> object:
    """DuckDB's TIMESTAMP has no zone: it is UTC by agreement."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
