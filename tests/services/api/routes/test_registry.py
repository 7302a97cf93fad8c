"""A stock client of a schema registry finds in the API what it needs to decode every topic."""

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from contracts import (
    CONTRACTS,
    STOCK_LEVELS,
    Contract,
    build_avro_schema,
    decode,
    encode,
    get_schema_id,
)
from services.api.routes.registry import MEDIA_TYPE
from tests.services.serving import Answers

SUBJECT = f"{STOCK_LEVELS.name}-value"


@pytest.fixture(scope="module")
def client(quiet: Answers) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": quiet.address})


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=str)
def test_a_stock_client_decodes_any_topic(client: SchemaRegistryClient, contract: Contract) -> None:
    deserialize = AvroDeserializer(client)
    for example in contract.examples:
        value = encode(contract, example)
        context = SerializationContext(contract.name, MessageField.VALUE)
        assert deserialize(value, context) == decode(value).value


def test_a_stock_client_finds_every_subject_its_versions_and_that_nothing_is_registered(
    client: SchemaRegistryClient,
) -> None:
    assert client.get_subjects() == sorted(f"{name}-value" for name in CONTRACTS)
    assert client.get_versions(SUBJECT) == [1]
    version = client.get_version(SUBJECT, 1)
    assert version.subject == SUBJECT
    assert version.schema_id == get_schema_id(STOCK_LEVELS)
    assert version.schema is not None
    assert json.loads(version.schema.schema_str or "") == build_avro_schema(STOCK_LEVELS)
    newest = client.get_latest_version(f"{STOCK_LEVELS.name}.g3-value")  # of its generation 3
    assert newest.schema_id == get_schema_id(STOCK_LEVELS)
    [found] = client.get_schema_versions(get_schema_id(STOCK_LEVELS))
    assert (found.subject, found.version) == (SUBJECT, 1)
    assert client.get_global_mode() == "READONLY"
    assert client.get_compatibility() == "BACKWARD_TRANSITIVE"


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/schemas/ids/99999", 40403, "Expected the id of a schema, found 99999."),
        ("/schemas/ids/one", 40403, "Expected the id of a schema, found one."),
        ("/schemas/ids/99999/versions", 40403, "Expected the id of a schema"),
        ("/subjects/public.sales/versions", 40401, "Expected a subject of GET /subjects"),
        (f"/subjects/{STOCK_LEVELS.name}/versions", 40401, "Expected a subject"),
        (f"/subjects/{SUBJECT}/versions/99", 40402, "Expected version 1 to 1 of"),
        (f"/subjects/{SUBJECT}/versions/newest", 42202, "Expected 1, 2, … or latest"),
        (f"/subjects/{SUBJECT}/versions/0", 42202, "Expected 1, 2, … or latest"),
    ],
)
def test_errors_have_the_registrys_form(quiet: Answers, path: str, code: int, message: str) -> None:
    answer = quiet.get(path)
    assert answer.status_code == code // 100
    assert answer.headers["content-type"] == MEDIA_TYPE
    error: dict[str, Any] = answer.json()
    assert error.keys() == {"error_code", "message"}
    assert error["error_code"] == code
    assert message in error["message"]
