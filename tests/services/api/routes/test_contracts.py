"""The API serves each contract as its file, and all of them as AsyncAPI."""

import json
from hashlib import sha256
from http import HTTPStatus
from typing import Any

import fastavro
import pytest
from jsonschema_rs import Draft7Validator

from contracts import CONTRACTS, RECEIPTS, STOCK_LEVELS
from contracts.codec import decode_body, encode
from contracts.validation import OPEN
from infra.settings import locate_root
from tests.contracts.evolution.editing import HERE
from tests.services.serving import Answers

ASYNCAPI = locate_root() / "tests" / "vendor" / "asyncapi-specs" / "3.0.0.json"


@pytest.fixture
def document(quiet: Answers) -> Any:
    return quiet.json("/asyncapi.json")


def test_every_contract_is_listed_and_its_file_is_served_as_it_is(quiet: Answers) -> None:
    listed = quiet.json("/v1/contracts")["contracts"]
    assert [(contract["name"], contract["kind"]) for contract in listed] == [
        (name, contract.kind) for name, contract in sorted(CONTRACTS.items())
    ]
    for row in listed:
        answer = quiet.get(row["address"])
        assert answer.status_code == HTTPStatus.OK
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.content == (HERE / CONTRACTS[row["name"]].file).read_bytes()


def test_the_document_is_asyncapi_by_its_published_schema(document: Any) -> None:
    digest = sha256(ASYNCAPI.read_bytes()).hexdigest()
    assert digest in ASYNCAPI.with_name("README.md").read_text()
    validator = Draft7Validator(json.loads(ASYNCAPI.read_text()))
    assert [error.message for error in validator.iter_errors(document)] == []
    document["channels"][RECEIPTS.name]["bindings"]["kafka"]["partitions"] = 0
    assert not validator.is_valid(document)


def test_every_topic_is_a_channel_whose_schema_decodes_its_records(document: Any) -> None:
    assert document["channels"].keys() == CONTRACTS.keys()
    for name, channel in document["channels"].items():
        contract = CONTRACTS[name]
        is_view = contract.kind == "view"
        assert channel["address"] == (f"{name}.g{{generation}}" if is_view else name)
        assert channel["bindings"]["kafka"]["partitions"] == contract.settings.partitions
        [message] = channel["messages"].values()
        schema = fastavro.parse_schema(message["payload"]["schema"])
        for example in contract.examples:
            read = decode_body(encode(contract, example), schema, None)
            assert {field: read[field] for field in example} == example


def test_the_shop_sends_every_topic_and_receives_what_anybody_may_publish(document: Any) -> None:
    actions: dict[str, set[str]] = {"send": set(), "receive": set()}
    for operation in document["operations"].values():
        actions[operation["action"]].add(operation["channel"]["$ref"].removeprefix("#/channels/"))
    assert actions == {"send": set(CONTRACTS), "receive": set(OPEN)}
    assert STOCK_LEVELS.name not in actions["receive"]
