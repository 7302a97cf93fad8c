"""Tables come from contracts: what goes in comes out, for every view and every type."""

import json

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
        plain = {name: given for name, given in value.items() if isinstance(given, str | int)}
        assert plain.items() <= document.items()
