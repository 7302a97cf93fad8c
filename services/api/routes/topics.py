"""GET /v1/topics: every topic and view, as in its contract. GET /v1/contracts: their files."""

import operator
from functools import cache
from pathlib import Path
from typing import Annotated

import fastapi
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, Field

from contracts import CONTRACTS, Contract, catalog, find_schemas, get_schema_id
from services.api.http.parameters import NoParameters
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound
from services.api.store.tables import AnyJson, Document, to_document

FOLDER = Path(catalog.__file__).parent
TEXTS = {
    name: (FOLDER / contract.file).read_text(encoding="utf-8")
    for name, contract in CONTRACTS.items()
}

router = Router(tags=["topics"])

Name = Annotated[str, fastapi.Path(description="the topic's contract", max_length=200)]


class PersonalData(BaseModel):
    """Why a field that names a person is there; null: it is not said, as a private topic may."""

    purpose: str | None = Field(description="what the field serves")
    retention: str | None = Field(
        description="how long the topic keeps it: a length of time, for ever, or newest per key"
    )


class TopicField(BaseModel):
    name: str
    type: str = Field(description="string, bytes, int, long, boolean, timestamp or array")
    unit: str | None = Field(description="what the number counts; null where it counts nothing")
    per: str | None = Field(
        None,
        description="the field beside it that says what the number is per, where it is given",
        exclude_if=operator.not_,
    )
    required: bool = Field(description="whether every record has it")
    description: str = Field(description="what it means")
    fields: list["TopicField"] | None = Field(
        None, description="of each element of an array", exclude_if=operator.not_
    )
    personal: PersonalData | None = Field(
        None, description="of a field that names a person", exclude_if=operator.not_
    )


class TopicRule(BaseModel):
    name: str = Field(description="the reason given for rejecting a record that breaks it")
    description: str | None = Field(description="why it is so")


class Topic(BaseModel):
    """One topic or view, as its contract says."""

    name: str = Field(description="the topic; a view's rows are in the topic that getView names")
    kind: str = Field(description="topic or view")
    visibility: str = Field(description="public: for every reader; private: for this project alone")
    owner: str = Field(description="who answers for it")
    description: str = Field(description="what a record says, and what it does not")
    key: list[str] = Field(description="the fields of a record's key, joined by a slash")
    event_time: str | None = Field(description="the field that says when it happened")
    horizon_seconds: int | None = Field(
        description="how long after it happened a record may be published and still count"
    )
    skew_seconds: int | None = Field(
        description="how long before it happened a record may be published, by a clock ahead"
    )
    retention_seconds: int | None = Field(
        description="how much older than the newest a view's row may be before readers drop it"
    )
    grace_seconds: int | None = Field(
        description="how long after a window's end an event may be published and be on time"
    )
    partitions: int
    config: dict[str, str] = Field(description="the topic's settings in Kafka")
    schema_id: int = Field(description="of the schema that records are written with now")
    schema_ids: list[int] = Field(description="of every schema that its records may have")
    fields: list[TopicField]
    rules: list[TopicRule] = Field(description="what every record keeps to")
    example: AnyJson = Field(description="a record that keeps every rule")


class Topics(BaseModel):
    topics: list[Topic]


SAME = (
    *("name", "kind", "visibility", "owner", "description"),
    *("key", "event_time", "fields", "rules"),
)
"""What a description has as the contract has it."""


@cache
def describe(contract: Contract) -> Topic:
    """The description of the topic for its readers, with an example record."""
    spans = {name: getattr(contract, name) for name in ("horizon", "skew", "retention", "grace")}
    document = {
        **{name: getattr(contract, name) for name in SAME},
        **{
            f"{name}_seconds": None if span is None else round(span.total_seconds())
            for name, span in spans.items()
        },
        "partitions": contract.settings.partitions,
        "config": dict(contract.settings.config),
        "schema_id": get_schema_id(contract),
        "schema_ids": sorted(find_schemas(contract)),
        "example": to_document(contract.examples[0]),
    }
    return Topic.model_validate(document, from_attributes=True)


@cache
def render(contract: Contract) -> Document:
    """The description as JSON."""
    return describe(contract).model_dump()


@router.get("/v1/topics", summary="Every topic and view with its contract", response_model=Topics)
async def list_topics(_: NoParameters) -> JSONResponse:
    return JSONResponse({"topics": [render(contract) for _, contract in sorted(CONTRACTS.items())]})


@router.get(
    "/v1/topics/{name}",
    summary="One topic or view with its contract",
    response_model=Topic,
    responses=ITEM_PROBLEMS,
)
async def get_topic(name: Name, _: NoParameters) -> JSONResponse:
    if name not in CONTRACTS:
        raise NotFound(
            "Unknown topic", f"Expected one of {', '.join(sorted(CONTRACTS))}, found {name}."
        )
    return JSONResponse(render(CONTRACTS[name]))


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
            ContractFile(name=name, kind=contract.kind, address=f"/v1/contracts/{name}")
            for name, contract in sorted(CONTRACTS.items())
        ]
    )


@router.get(
    "/v1/contracts/{name}",
    summary="One contract's file, in the Open Data Contract Standard",
    response_class=PlainTextResponse,
    responses=ITEM_PROBLEMS,
)
async def get_contract_file(name: Name, _: NoParameters) -> PlainTextResponse:
    if name not in TEXTS:
        raise NotFound("Unknown contract", f"Expected a name in GET /v1/contracts, found {name}.")
    return PlainTextResponse(TEXTS[name])
