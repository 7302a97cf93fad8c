"""GET /v1/contracts: the contract of every topic and view, as its file; all as AsyncAPI."""

from pathlib import Path
from typing import Annotated

import fastapi
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from contracts import CONTRACTS, Contract, build_avro_schema, catalog
from contracts.mapping import to_camel
from contracts.validation import OPEN
from services.api.http.parameters import NoParameters
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound
from services.api.store.tables import AnyJson

FOLDER = Path(catalog.__file__).parent
TEXTS = {
    name: (FOLDER / contract.file).read_text(encoding="utf-8")
    for name, contract in sorted(CONTRACTS.items())
}

router = Router(tags=["contracts"])

Name = Annotated[str, fastapi.Path(description="the topic or view", max_length=200)]


class ContractFile(BaseModel):
    name: str = Field(description="the topic or view")
    kind: str = Field(description="topic or view")
    address: str = Field(description="where its file is")


class ContractFiles(BaseModel):
    contracts: list[ContractFile]


@router.get("/v1/contracts", summary="Every contract and where its file is")
async def list_contracts(_: NoParameters) -> ContractFiles:
    return ContractFiles(
        contracts=[
            ContractFile(name=name, kind=CONTRACTS[name].kind, address=f"/v1/contracts/{name}")
            for name in TEXTS
        ]
    )


@router.get(
    "/v1/contracts/{name}",
    summary="One contract's file, in the Open Data Contract Standard",
    description="Fields with units and examples, rules, key, horizon, and the topic's settings. "
    "The schema's id is in GET /subjects/{name}-value/versions/latest.",
    response_class=PlainTextResponse,
    responses=ITEM_PROBLEMS,
)
async def get_contract_file(name: Name, _: NoParameters) -> PlainTextResponse:
    if name not in TEXTS:
        raise NotFound("Unknown contract", f"Expected a name in GET /v1/contracts, found {name}.")
    return PlainTextResponse(TEXTS[name])


@router.get("/asyncapi.json", summary="What the shop sends and receives, as AsyncAPI 3")
async def get_asyncapi(_: NoParameters) -> AnyJson:
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Retail", "version": "1"},
        "channels": {name: _describe_channel(CONTRACTS[name]) for name in TEXTS},
        "operations": {
            f"{action}.{name}": {"action": action, "channel": {"$ref": f"#/channels/{name}"}}
            for action, names in (("send", TEXTS), ("receive", OPEN))
            for name in names
        },
    }


def _describe_channel(contract: Contract) -> AnyJson:
    """The channel of a topic; a view has one of each generation."""
    numbered = {"generation": {"description": "its number"}} if contract.kind == "view" else {}
    key = {"type": "string", "description": "/".join(contract.key)}
    frame = {"schemaIdLocation": "payload", "schemaIdPayloadEncoding": "confluent"}
    avro = "application/vnd.apache.avro+json;version=1.9.0"
    message = {
        "contentType": "application/vnd.apache.avro",
        "payload": {"schemaFormat": avro, "schema": build_avro_schema(contract)},
        "bindings": {"kafka": {"key": key, **frame}},
    }
    return {
        "address": contract.name + (".g{generation}" if numbered else ""),
        "parameters": numbered,
        "description": contract.description,
        "messages": {to_camel(contract.entity): message},
        "bindings": {"kafka": {"partitions": contract.settings.partitions}},
    }
