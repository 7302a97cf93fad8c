"""GET /subjects, GET /schemas: the schemas and their ids, in the form of a schema registry.

Paths, documents and error codes are those of Confluent's registry, so a stock deserializer decodes
every topic: a topic is a subject, its schemas are versions. The registry is read-only: a schema
gets its id from the lock file.
"""

import json
import re
from functools import cache
from http import HTTPStatus
from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import CONTRACTS, find_schemas
from services.api.http.router import Responses, Router
from services.api.problem import Problem

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
LATEST = ("latest", "-1")
SUFFIX = "-value"  # of every subject; keys are plain text without a schema
GENERATION = re.compile(r"\.g\d+$")

SUBJECT_UNKNOWN = 40401
VERSION_UNKNOWN = 40402
SCHEMA_UNKNOWN = 40403
VERSION_INVALID = 42202

Id = Annotated[str, Path(description="the schema id, as in bytes 2 to 5 of a record's value")]
Subject = Annotated[str, Path(description="`<topic>-value`")]
Number = Annotated[str, Path(description="1, 2, … or latest")]


class SchemaText(BaseModel):
    text: str = Field(alias="schema", description="the Avro schema, as JSON in a string")


class SubjectVersion(BaseModel):
    subject: str = Field(description="the topic whose values it describes, and -value")
    version: int = Field(description="counts the subject's schemas, from 1")


class RegisteredSchema(SubjectVersion):
    id: int = Field(description="the schema id in the frame of every record written with it")
    text: str = Field(alias="schema", description="the Avro schema, as JSON in a string")


class Compatibility(BaseModel):
    level: str = Field(alias="compatibilityLevel", description="what a new version must keep to")


class Mode(BaseModel):
    mode: str = Field(description="READONLY: nothing is registered here")


class Failure(BaseModel):
    """An error as registry clients expect it."""

    error_code: int = Field(description="the HTTP status, and two digits that say more")
    message: str = Field(description="what was expected, what was found, what to do")


class RegistryResponse(JSONResponse):
    media_type = MEDIA_TYPE


class RegistryProblem(Problem):
    """An error in the registry's form instead of a problem document's."""

    media_type = MEDIA_TYPE

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(HTTPStatus(code // 100), "Registry error", detail)
        self.code = code

    def to_document(self, path: str) -> dict[str, object]:
        return {"error_code": self.code, "message": self.detail}


RESPONSES: Responses = {
    int(status): {"model": Failure, "description": status.phrase}
    for status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
}

# These routes ignore unknown query parameters: stock clients send some.
router = Router(
    tags=["schema registry"], default_response_class=RegistryResponse, responses=RESPONSES
)


@router.get("/schemas/ids/{id}", summary="The schema with an id")
async def get_schema(id: Id) -> SchemaText:  # noqa: A002  # its name in the registry's API
    return SchemaText(schema=_find_by_id(id).text)


@router.get("/schemas/ids/{id}/versions", summary="The subject and version that have an id")
async def list_schema_versions(id: Id) -> list[SubjectVersion]:  # noqa: A002  # as above
    schema = _find_by_id(id)
    return [SubjectVersion(subject=schema.subject, version=schema.version)]


@router.get("/subjects", summary="Every topic and view, as a subject")
async def list_subjects() -> list[str]:
    return sorted(f"{name}{SUFFIX}" for name in CONTRACTS)


@router.get("/subjects/{subject}/versions", summary="The versions of a subject")
async def list_versions(subject: Subject) -> list[int]:
    return [each.version for each in _find_versions(subject)]


@router.get("/subjects/{subject}/versions/{version}", summary="One version of a subject")
async def get_version(subject: Subject, version: Number) -> RegisteredSchema:
    return _find_version(subject, version).model_copy(update={"subject": subject})


@router.get("/config", summary="What a new version of a schema must keep to")
async def get_compatibility() -> Compatibility:
    # The codec reads every version with the current schema.
    return Compatibility(compatibilityLevel="BACKWARD_TRANSITIVE")


@router.get("/mode", summary="Whether schemas can be registered")
async def get_mode() -> Mode:
    return Mode(mode="READONLY")


@cache
def _list_versions() -> dict[str, tuple[RegisteredSchema, ...]]:
    """The schemas of each topic, the oldest first."""
    return {
        contract.name: tuple(
            RegisteredSchema(
                subject=f"{contract.name}{SUFFIX}",
                version=number,
                id=schema_id,
                schema=json.dumps(schema, separators=(",", ":")),
            )
            for number, (schema_id, schema) in enumerate(sorted(schemas.items()), start=1)
        )
        for contract in CONTRACTS.values()
        if (schemas := find_schemas(contract))
    }


def _find_by_id(text: str) -> RegisteredSchema:
    wanted = int(text) if text.isascii() and text.isdigit() else None
    for versions in _list_versions().values():
        for version in versions:
            if version.id == wanted:
                return version
    raise RegistryProblem(
        SCHEMA_UNKNOWN,
        f"Expected the id of a schema, found {text[:80]}. "
        "The ids stand in contracts/schemas.lock.json.",
    )


def _find_versions(subject: str) -> tuple[RegisteredSchema, ...]:
    """The subject's schemas, the oldest first.

    A generation's changelog has the schemas of its view: readers of the log know only the topic's
    name.
    """
    topic = subject.removesuffix(SUFFIX)
    view = CONTRACTS.get(GENERATION.sub("", topic))
    if view is not None and view.kind == "view":
        topic = view.name
    versions = _list_versions().get(topic, ()) if subject.endswith(SUFFIX) else ()
    if not versions:
        raise RegistryProblem(
            SUBJECT_UNKNOWN, f"Expected a subject of GET /subjects, found {subject[:200]}."
        )
    return versions


def _find_version(subject: str, wanted: str) -> RegisteredSchema:
    every = _find_versions(subject)
    if wanted in LATEST:
        return every[-1]
    if not (wanted.isascii() and wanted.isdigit() and int(wanted)):
        raise RegistryProblem(
            VERSION_INVALID, f"Expected 1, 2, … or latest as the version, found {wanted[:80]}."
        )
    if int(wanted) > len(every):
        raise RegistryProblem(
            VERSION_UNKNOWN, f"Expected version 1 to {len(every)} of {subject}, found {wanted}."
        )
    return every[int(wanted) - 1]
