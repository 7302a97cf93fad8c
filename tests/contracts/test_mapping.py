"""One contract, one shape: Avro, Spark and Python agree on every field; what it says holds."""

import re

import pytest

from contracts import (
    CONTRACTS,
    QUARANTINE,
    READERS,
    Contract,
    build_avro_schema,
    build_model,
    render_spark_ddl,
)
from contracts.mapping import TYPES
from tests.contracts.broken_rules import find_broken_rules

EVERY = pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)


@EVERY
def test_every_derivation_has_the_same_fields_in_the_same_order(contract: Contract) -> None:
    names = [field.name for field in contract.fields]
    assert [field["name"] for field in build_avro_schema(contract)["fields"]] == names
    assert re.findall(r"(?:^|, )(\w+) ", render_spark_ddl(contract)) == names
    assert list(build_model(contract).model_fields) == names


@EVERY
def test_a_field_is_optional_everywhere_or_nowhere(contract: Contract) -> None:
    for field, avro in zip(contract.fields, build_avro_schema(contract)["fields"], strict=True):
        assert ("default" in avro) == (not field.required)
        assert build_model(contract).model_fields[field.name].is_required() == field.required


def test_no_type_is_a_float() -> None:
    assert {known.value for known in TYPES.values()}.isdisjoint({float, complex})


OF_THE_WALL = {"control"}
"""Domains whose topics record what programs do, by the wall's clock."""


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
