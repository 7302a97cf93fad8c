"""Tables come from contracts: what goes in comes out, for every view and every type."""

import json
from typing import Any

import pytest

from contracts import CONTRACTS, Contract
from services.api.store.tables import Table


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda each: each.name)
def test_an_example_of_any_contract_is_stored_and_shown(contract: Contract) -> None:
    table = Table(contract)
    for example in contract.examples:
        value = {field.name: example.get(field.name) for field in contract.fields}
        document = table.to_json(table.to_stored(value))
        assert list(document) == [field.name for field in contract.fields]
        assert json.loads(json.dumps(document)) == document
        assert all(document[name] == value[name] for name in value if _is_plain(value[name]))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int)
