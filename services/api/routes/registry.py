"""GET /subjects, GET /schemas: the schemas and their ids, in the form of a schema registry.

Paths, documents and error codes are those of Confluent's registry, so stock clients read and write
every topic: a topic is a subject, its schemas are versions. The registry is read-only: a schema
gets its id from the lock file.
"""

import json
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import CONTRACTS
from services.api.http.limits import LOOKUPS_UNDER, receive
from services.api.http.problems import REGISTRY_MEDIA_TYPE
from services.api.http.router import ALWAYS, Responses, Router
from services.api.routes import registry_schemas as schemas
from services.api.routes.registry_schemas import RegisteredSchema, SubjectVersion
from services.api.store.tables import AnyJson

Id = Annotated[str, Path(description="the schema id, as in bytes 2 to 5 of a record's value")]
Subject = Annotated[str, Path(description="`<topic>-value`")]
Number = Annotated[str, Path(description="1, 2, … or latest")]


class SchemaId(BaseModel):
    id: int = Field(description="the schema id in the frame of every record written with it")


class Compatibility(BaseModel):
    level: str = Field(alias="compatibilityLevel", description="what a new version must keep to")


class Mode(BaseModel):
    mode: str = Field(description="READONLY: nothing is registered here")


class Failure(BaseModel):
    """An error as registry clients expect it."""

    error_code: int = Field(description="the HTTP status, with two more digits where they say more")
    message: str = Field(description="what was expected, what was found, what to do")


class RegistryResponse(JSONResponse):
    media_type = REGISTRY_MEDIA_TYPE


def _document_failures(*statuses: HTTPStatus) -> Responses:
    return {int(each): {"model": Failure, "description": each.phrase} for each in statuses}


REQUEST: AnyJson = {
    "required": True,
    "content": {REGISTRY_MEDIA_TYPE: {"schema": schemas.SchemaRequest.model_json_schema()}},
}
OF_REQUESTS = _document_failures(
    HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.LENGTH_REQUIRED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE
)

# These routes ignore unknown query parameters: stock clients send some.
router = Router(
    tags=["schema registry"],
    default_response_class=RegistryResponse,
    responses=_document_failures(*ALWAYS, HTTPStatus.NOT_FOUND),
)


@router.get("/schemas/types", summary="The kinds of schemas")
async def list_schema_types() -> list[str]:
    return [schemas.AVRO]


@router.get("/schemas/ids/{id}", summary="The schema with an id")
async def get_schema(id: Id) -> schemas.SchemaText:  # noqa: A002  # its name in the registry's API
    return schemas.SchemaText(schema=schemas.find_by_id(id).text)


@router.get("/schemas/ids/{id}/schema", summary="The schema with an id, alone")
async def get_schema_alone(id: Id) -> AnyJson:  # noqa: A002  # as above
    return json.loads(schemas.find_by_id(id).text)  # type: ignore[no-any-return]  # a record


@router.get("/schemas/ids/{id}/versions", summary="The subject and version that have an id")
async def list_schema_versions(id: Id) -> list[SubjectVersion]:  # noqa: A002  # as above
    schema = schemas.find_by_id(id)
    return [SubjectVersion(subject=schema.subject, version=schema.version)]


@router.get("/subjects", summary="Every topic and view, as a subject")
async def list_subjects() -> list[str]:
    return sorted(f"{name}{schemas.SUFFIX}" for name in CONTRACTS)


@router.post(
    f"{LOOKUPS_UNDER}{{subject}}",
    summary="The version of a subject that a schema is",
    description="Documentation, the order of members and properties unknown to Avro do not count.",
    openapi_extra={"requestBody": REQUEST},
    responses=OF_REQUESTS,
)
async def find_schema(subject: Subject, request: Request) -> RegisteredSchema:
    return schemas.look_up(subject, await receive(request), schemas.SCHEMA_UNKNOWN)


@router.get("/subjects/{subject}/versions", summary="The versions of a subject")
async def list_versions(subject: Subject) -> list[int]:
    return [each.version for each in schemas.find_versions(subject)]


@router.post(
    f"{LOOKUPS_UNDER}{{subject}}/versions",
    summary="The id of a schema that has one already",
    description="A serializer that registers its schema gets the id. A new schema is refused: "
    "`retail contracts release` gives it an id.",
    openapi_extra={"requestBody": REQUEST},
    responses=OF_REQUESTS,
)
async def register_schema(subject: Subject, request: Request) -> SchemaId:
    found = schemas.look_up(subject, await receive(request), schemas.READ_ONLY)
    return SchemaId(id=found.id)


@router.get("/subjects/{subject}/versions/{version}", summary="One version of a subject")
async def get_version(subject: Subject, version: Number) -> RegisteredSchema:
    return schemas.find_version(subject, version)


@router.get(
    "/subjects/{subject}/versions/{version}/referencedby",
    summary="The ids of the schemas that refer to a version: none does",
)
async def list_references(subject: Subject, version: Number) -> list[int]:
    schemas.find_version(subject, version)
    return []


@router.get("/config", summary="What a new version of a schema must keep to")
async def get_compatibility() -> Compatibility:
    # The codec reads every version with the current schema.
    return Compatibility(compatibilityLevel="BACKWARD_TRANSITIVE")


@router.get("/config/{subject}", summary="What a new version of a subject must keep to")
async def get_subject_compatibility(subject: Subject) -> Compatibility:
    schemas.find_versions(subject)
    return await get_compatibility()


@router.get("/mode", summary="Whether schemas can be registered")
async def get_mode() -> Mode:
    return Mode(mode="READONLY")
