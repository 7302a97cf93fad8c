"""One contract, one shape: Avro, Spark and Python agree on every field."""

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
