"""Tables come from contracts: what goes in comes out, for every view and every type."""

import json
import sqlite3
from typing import Any

import pytest

from contracts import CONTRACTS, STOCK_LEVELS, Contract
from contracts.mapping import TYPES
from services.api.store.tables import KINDS, Table

VIEWS = [contract for contract in CONTRACTS.values() if contract.kind == "view"]


def test_every_type_of_the_contracts_has_a_column() -> None:
    assert KINDS.keys() == TYPES.keys()


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda each: each.name)
def test_an_example_of_any_contract_is_stored_and_shown(contract: Contract) -> None:
    table = Table(contract)
    for example in contract.examples:
        value = {field.name: example.get(field.name) for field in contract.fields}
        document = table.to_json(table.to_stored(value))
        assert list(document) == [field.name for field in contract.fields]
        assert json.loads(json.dumps(document)) == document
        assert all(document[name] == value[name] for name in value if _is_plain(value[name]))


@pytest.mark.parametrize("contract", VIEWS, ids=lambda each: each.name)
def test_the_table_of_any_view_takes_its_rows(contract: Contract) -> None:
    table = Table(contract)
    connection = sqlite3.connect(":memory:")
    for statement in table.create:
        connection.execute(statement)
    stored = table.to_stored(contract.examples[0])
    connection.execute(table.upsert, stored)
    connection.execute(table.upsert, stored)
    assert connection.execute(table.select).fetchall() == [stored]


def test_a_time_is_shown_in_utc_with_milliseconds() -> None:
    table = Table(STOCK_LEVELS)
    document = table.to_json(table.to_stored(STOCK_LEVELS.examples[0]))
    assert str(document["last_event_time"]).endswith("Z")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int)
