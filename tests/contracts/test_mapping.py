"""What every contract says of its fields, rules and topic holds."""

import pytest

from contracts import CONTRACTS, QUARANTINE, READERS, Contract
from contracts.mapping import TYPES
from tests.contracts.broken_rules import find_broken_rules

EVERY = pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
OF_THE_WALL = {"control"}
"""Domains whose topics record what programs do, by the wall's clock."""


def test_no_type_is_a_float() -> None:
    assert {row.value for row in TYPES.values()}.isdisjoint({float, complex})


@EVERY
def test_topics_of_record_are_kept_for_ever_and_take_world_time(contract: Contract) -> None:
    config = contract.settings.config
    if contract.kind == "topic" and contract.domain not in OF_THE_WALL:
        assert config["message.timestamp.after.max.ms"] == str(2**63 - 1)
    if contract.kind == "view" or contract.domain in OF_THE_WALL or contract is QUARANTINE:
        gone = contract is READERS  # a reader that is gone is to be forgotten
        assert config["cleanup.policy"] == ("compact,delete" if gone else "compact")
    else:
        assert config["retention.ms"] == "-1"


@EVERY
def test_a_view_whose_keys_go_on_with_time_says_how_long_its_rows_are_kept(
    contract: Contract,
) -> None:
    assert (contract.began is None) == (contract.retention is None)


@EVERY
def test_the_examples_show_every_field_and_what_breaks_each_rule_alone(contract: Contract) -> None:
    shown = {
        name
        for example in contract.examples
        for name, value in example.items()
        if value is not None
    }
    assert shown == {field.name for field in contract.fields}
    for valid in contract.examples:
        assert find_broken_rules(contract, valid) == set()
    for invalid in contract.invalid_examples:
        assert find_broken_rules(contract, invalid.value) == {invalid.rule}
    assert {rule.name for rule in contract.rules} == {
        example.rule for example in contract.invalid_examples
    }
