import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import CONTRACTS
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import valid


@pytest.mark.parametrize("name", CONTRACTS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_record_made_to_be_valid_is_valid(name: str, data: st.DataObject) -> None:
    assert find_broken_rules(CONTRACTS[name], data.draw(valid(CONTRACTS[name]))) == set()
