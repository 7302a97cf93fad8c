"""A stock client of a schema registry finds in the API what it needs to read and write a topic."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from contracts import (
    CONTRACTS,
    RECEIPTS,
    STOCK_LEVELS,
    Contract,
    Row,
    build_avro_schema,
    decode,
    encode,
    encode_key,
    get_contract,
    get_schema_id,
)
from contracts.times import to_epoch_ms
from contracts.validation import OPEN, Rejection, validate
from generators.wire import encode_value
from services.api.http.limits import LOOKUP_BYTES_MAX
from services.api.http.problems import REGISTRY_MEDIA_TYPE
from tests.generators.worlds import CLEAN, publish_hours
from tests.services.serving import Answers

SUBJECT = f"{STOCK_LEVELS.name}-value"
GENERATION = f"{STOCK_LEVELS.name}.g3-value"
ID = get_schema_id(STOCK_LEVELS)
SCHEMA = build_avro_schema(STOCK_LEVELS)
AS_IT_IS = {"auto.register.schemas": False}
LATEST = {"auto.register.schemas": False, "use.latest.version": True}
REGISTERED: dict[str, bool] = {}
"""The serializer registers its schema, as it does by default."""


@pytest.fixture(scope="module")
def client(quiet: Answers) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": quiet.address})


def in_value(contract: Contract) -> SerializationContext:
    return SerializationContext(contract.name, MessageField.VALUE)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=str)
def test_a_stock_client_decodes_any_topic(client: SchemaRegistryClient, contract: Contract) -> None:
    deserialize = AvroDeserializer(client)
    for example in contract.examples:
        value = encode(contract, example)
        assert deserialize(value, in_value(contract)) == decode(value).value


def test_a_stock_client_decodes_what_the_generators_publish(client: SchemaRegistryClient) -> None:
    deserialize, topics = AvroDeserializer(client), set()
    for publication in publish_hours(2, CLEAN):
        contract = get_contract(publication.topic)
        value = encode_value(publication)
        assert deserialize(value, in_value(contract)) == decode(value).value
        topics.add(contract)
    assert RECEIPTS in topics


@pytest.mark.parametrize("settings", [LATEST, AS_IT_IS, REGISTERED], ids=str)
@pytest.mark.parametrize("contract", OPEN.values(), ids=str)
def test_validation_accepts_what_a_stock_client_encodes(
    client: SchemaRegistryClient, contract: Contract, settings: dict[str, bool]
) -> None:
    schema = None if settings is LATEST else json.dumps(comment(build_avro_schema(contract)))
    serialize = AvroSerializer(client, schema, conf=settings)
    for example in contract.examples:
        value = serialize(dict(example), in_value(contract))
        assert value == encode(contract, example)
        assert not isinstance(accept(contract, example, value), Rejection)


def accept(contract: Contract, event: Row, value: bytes | None) -> Row | Rejection:
    assert contract.event_time is not None
    return validate(
        contract, encode_key(contract, event), value, to_epoch_ms(event[contract.event_time])
    )


def comment(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as a generator of Java's classes writes it: the same, in other words."""
    fields = [
        {**each, "doc": "in words", "type": name_string(each["type"])} for each in schema["fields"]
    ]
    full_name = f"{schema['namespace']}.{schema['name']}"
    return {"fields": fields, "doc": "words", "name": full_name, "type": "record", "since": "1"}


def name_string(kind: Any) -> Any:
    return {"type": "string", "avro.java.string": "String"} if kind == "string" else kind


def test_a_stock_client_finds_every_subject_its_versions_and_that_nothing_is_registered(
    client: SchemaRegistryClient,
) -> None:
    assert client.get_subjects() == sorted(f"{name}-value" for name in CONTRACTS)
    assert client.get_versions(SUBJECT) == [1]
    version = client.get_version(SUBJECT, 1)
    assert (version.subject, version.schema_id) == (SUBJECT, ID)
    assert version.schema is not None
    assert json.loads(version.schema.schema_str or "") == SCHEMA
    assert client.get_latest_version(GENERATION).schema_id == ID
    [found] = client.get_schema_versions(ID)
    assert (found.subject, found.version) == (SUBJECT, 1)
    assert client.get_referenced_by(SUBJECT, "latest") == []
    assert client.get_schema_types() == ["AVRO"]
    assert client.get_global_mode() == "READONLY"
    assert client.get_compatibility() == client.get_compatibility(SUBJECT) == "BACKWARD_TRANSITIVE"


def test_a_schema_is_there_alone(quiet: Answers) -> None:
    assert quiet.json(f"/schemas/ids/{ID}/schema") == SCHEMA
    assert json.loads(quiet.json(f"/schemas/ids/{ID}")["schema"]) == SCHEMA


@pytest.mark.parametrize("subject", [SUBJECT, GENERATION])
def test_a_schema_in_other_words_is_found(client: SchemaRegistryClient, subject: str) -> None:
    found = client.lookup_schema(subject, Schema(json.dumps(comment(SCHEMA)), "AVRO"))
    assert (found.subject, found.schema_id, found.version) == (subject, ID, 1)


def rename(schema: dict[str, Any]) -> None:
    schema["name"] = "Other"


def reverse(schema: dict[str, Any]) -> None:
    schema["fields"].reverse()


def widen(schema: dict[str, Any]) -> None:
    """The same bytes, but no times: whoever reads with it gets numbers."""
    time = next(each for each in schema["fields"] if isinstance(each["type"], dict))
    time["type"] = time["type"]["type"]


def add_default(schema: dict[str, Any]) -> None:
    schema["fields"][0]["default"] = ""


@pytest.mark.parametrize("change", [rename, reverse, widen, add_default])
def test_a_schema_that_means_something_else_is_not_found_and_not_registered(
    client: SchemaRegistryClient, change: Callable[[dict[str, Any]], None]
) -> None:
    other = json.loads(json.dumps(SCHEMA))
    change(other)
    schema = Schema(json.dumps(other), "AVRO")
    for ask, status, code in (
        (client.lookup_schema, 404, 40403),
        (client.register_schema, 422, 42205),
    ):
        with pytest.raises(SchemaRegistryError, match="Expected a schema of") as refused:
            ask(SUBJECT, schema)
        assert (refused.value.http_status_code, refused.value.error_code) == (status, code)


WRITES: list[Callable[[SchemaRegistryClient], Any]] = [
    lambda client: client.set_compatibility(level="NONE"),
    lambda client: client.set_compatibility(SUBJECT, "NONE"),
    lambda client: client.update_global_mode("READWRITE"),
    lambda client: client.delete_subject(SUBJECT),
    lambda client: client.delete_version(SUBJECT, 1),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_stock_client_is_told_that_nothing_can_be_written(
    client: SchemaRegistryClient, write: Callable[[SchemaRegistryClient], Any]
) -> None:
    with pytest.raises(SchemaRegistryError, match="/openapi") as refused:
        write(client)
    assert (refused.value.http_status_code, refused.value.error_code) == (405, 405)


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/schemas/ids/99999", 40403, "Expected the id of a schema, found 99999."),
        ("/schemas/ids/one", 40403, "Expected the id of a schema, found one."),
        *(
            (f"/schemas/ids/99999/{part}", 40403, "Expected the id of a schema")
            for part in ("schema", "versions")
        ),
        *(
            (path, 40401, "Expected a subject of GET /subjects, found public.sales")
            for path in ("/subjects/public.sales/versions", "/config/public.sales")
        ),
        (f"/subjects/{STOCK_LEVELS.name}/versions", 40401, "Expected a subject"),
        (f"/subjects/{SUBJECT}/versions/99", 40402, "Expected version 1 to 1 of"),
        (f"/subjects/{SUBJECT}/versions/99/referencedby", 40402, "Expected version 1 to 1 of"),
        (f"/subjects/{SUBJECT}/versions/newest", 42202, "Expected 1, 2, … or latest"),
        (f"/subjects/{SUBJECT}/versions/0", 42202, "Expected 1, 2, … or latest"),
        ("/schemas/guids/1", 404, "Expected one of the paths in GET /openapi.json"),
    ],
)
def test_errors_have_the_registrys_form(quiet: Answers, path: str, code: int, message: str) -> None:
    check_failure(quiet.get(path), code, message)


def nest(levels: int) -> bytes:
    text = '{"type":"array","items":' * levels + '"int"' + "}" * levels
    return json.dumps({"schema": text}).encode()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        *((body, 42201) for body in (b"", b"{}", b"[]", b"\xff", b'{"schema": 1}')),
        *(
            (json.dumps({"schema": text}).encode(), 42201)
            for text in ("", "string", "1", "null", "{}", "[1]", '"nope"', '{"type": ["int"]}')
        ),
        (json.dumps({"schema": '"string"', "schemaType": "PROTOBUF"}).encode(), 42201),
        (json.dumps({"schema": '"string"'}).encode(), 40403),
        (json.dumps({"schema": "[" * 60_000}).encode(), 42201),
        (nest(200), 40403),
        (nest(2_000), 42201),
        (b" " * LOOKUP_BYTES_MAX, 42201),
        (b" " * (LOOKUP_BYTES_MAX + 1), 413),
    ],
)
def test_what_is_no_schema_is_refused(quiet: Answers, body: bytes, code: int) -> None:
    answer = quiet.request("POST", f"/subjects/{SUBJECT}", content=body)
    check_failure(answer, code, "Expected")


def check_failure(answer: Any, code: int, message: str) -> None:
    assert answer.status_code == int(str(code)[:3])
    assert answer.headers["content-type"] == REGISTRY_MEDIA_TYPE
    error: dict[str, Any] = answer.json()
    assert error.keys() == {"error_code", "message"}
    assert error["error_code"] == code
    assert message in error["message"]
