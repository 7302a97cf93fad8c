"""What the contracts say of themselves holds."""

import pytest

from contracts import CONTRACTS, Contract
from tests.contracts.broken_rules import find_broken_rules

EVERY = pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)


@EVERY
def test_every_valid_example_keeps_every_rule(contract: Contract) -> None:
    for example in contract.examples:
        assert find_broken_rules(contract, example) == set()


@EVERY
def test_every_invalid_example_breaks_its_rule_and_no_other(contract: Contract) -> None:
    for example in contract.invalid_examples:
        assert find_broken_rules(contract, example.value) == {example.rule}


@EVERY
def test_every_rule_has_an_example_that_breaks_it(contract: Contract) -> None:
    assert {rule.name for rule in contract.rules} == {one.rule for one in contract.invalid_examples}


@EVERY
def test_a_view_whose_keys_go_on_with_time_says_how_long_its_rows_are_kept(
    contract: Contract,
) -> None:
    assert (contract.began is None) == (contract.retention is None)


@EVERY
def test_the_examples_show_every_field(contract: Contract) -> None:
    shown = {name for one in contract.examples for name, value in one.items() if value is not None}
    assert shown == {field.name for field in contract.fields}
