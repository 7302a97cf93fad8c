"""Records that were written with any released version are read and accepted as they were then."""

import io
from typing import Any

import fastavro
import pytest

from contracts import CONTRACTS, Contract, build_avro_schema, decode, encode_key
from contracts.consumer import CONSUMERS
from contracts.declarations import find_readers
from contracts.evolution.released import load_released
from contracts.schemas import find_schemas
from contracts.times import to_epoch_ms
from contracts.validation import VALIDATED, Rejection, validate
from tests.contracts.evolution.editing import HERE
from tests.contracts.expectations import project

RELEASED, _ = load_released(HERE)
VERSIONS = [contract for name in CONTRACTS for contract in RELEASED.get(name, ())]
"""Of contracts that are still there: nobody reads those whose sunset has come."""


def encode_as(old: Contract, value: object) -> bytes:
    """The value as it was written with that version, under the id that its schema has."""
    schema = build_avro_schema(old)
    schemas = find_schemas(CONTRACTS[old.name])
    [number] = [number for number, written in schemas.items() if written == schema]
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), value)
    return b"\0" + number.to_bytes(4, "big") + body.getvalue()


def select_fields(asked: Any, value: Any) -> Any:
    """What was found, with the fields alone that were asked for, inside of it too."""
    if isinstance(asked, dict):
        return {name: select_fields(each, value[name]) for name, each in asked.items()}
    if isinstance(asked, list):
        return [select_fields(*pair) for pair in zip(asked, value, strict=True)]
    return value


@pytest.mark.parametrize("old", VERSIONS, ids=lambda old: f"{old.name} {old.version}")
def test_an_old_record_says_what_it_said_and_is_accepted_on_replay(old: Contract) -> None:
    for value in old.examples:
        written = encode_as(old, value)
        assert select_fields(value, decode(written).value) == value
        if old.name in VALIDATED:
            published_ms = to_epoch_ms(value[str(old.event_time)])
            verdict = validate(CONTRACTS[old.name], encode_key(old, value), written, published_ms)
            assert not isinstance(verdict, Rejection), verdict


def test_every_consumer_reads_old_records_by_its_own_schema() -> None:
    for old in VERSIONS:
        for use in find_readers(CONSUMERS, old.name).values():
            for value in old.examples:
                assert project(use, CONTRACTS[old.name], encode_as(old, value))
