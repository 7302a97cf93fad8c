"""One contract, one shape: Avro, Spark and Python agree on every field."""

import json
import re

import fastavro
import pytest

from contracts import (
    CONTRACTS,
    QUARANTINE,
    READERS,
    RECEIPTS,
    STOCK_LEVELS,
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


@EVERY
def test_the_schema_is_avro(contract: Contract) -> None:
    fastavro.parse_schema(build_avro_schema(contract))
    assert json.loads(json.dumps(build_avro_schema(contract))) == build_avro_schema(contract)


def test_an_optional_field_is_null_unless_given() -> None:
    [card_token] = [
        one for one in build_avro_schema(RECEIPTS)["fields"] if one["name"] == "card_token"
    ]
    assert card_token == {"name": "card_token", "type": ["null", "string"], "default": None}


def test_the_columns_of_a_receipt() -> None:
    assert render_spark_ddl(RECEIPTS) == (
        "event_id STRING, event_time TIMESTAMP, store_id STRING, register_id STRING, "
        "cashier_id STRING, card_token STRING, customer_id STRING, "
        "lines ARRAY<STRUCT<sku: STRING, units: INT, unit_price_cents: INT, "
        "measure: STRING>>"
    )


def test_a_schema_is_named_after_its_contract() -> None:
    schema = build_avro_schema(STOCK_LEVELS)
    assert f"{schema['namespace']}.{schema['name']}" == "retail.inventory.stock_level.v1.StockLevel"


def test_no_type_is_a_float() -> None:
    assert {known.value for known in TYPES.values()}.isdisjoint({float, complex})


OF_THE_WALL = {"control", "subscriptions"}
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
