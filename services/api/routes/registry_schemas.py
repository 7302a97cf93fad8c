"""The schemas of the lock file as subjects and versions, found by id, by number or by meaning."""

import json
import re
from functools import cache
from http import HTTPStatus
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException
from pydantic import BaseModel, Field

from contracts import CONTRACTS, find_schemas
from services.api.problem import Problem

AVRO = "AVRO"
LATEST = ("latest", "-1")
SUFFIX = "-value"  # of every subject; keys are plain text without a schema
GENERATION = re.compile(r"\.g\d+$")
MEANING = (
    *("type", "name", "fields", "items", "values", "symbols", "size", "aliases", "default"),
    *("logicalType", "precision", "scale"),
)
"""What Avro reads of a schema. All else is a comment, as `doc` and `avro.java.string` are."""
NO_SCHEMA = (
    *(SchemaParseException, ValueError, TypeError),
    *(LookupError, AttributeError, RecursionError),
)
"""What Fastavro raises for what is no schema."""

SUBJECT_UNKNOWN = 40401
VERSION_UNKNOWN = 40402
SCHEMA_UNKNOWN = 40403
SCHEMA_INVALID = 42201
VERSION_INVALID = 42202
READ_ONLY = 42205


class SchemaText(BaseModel):
    text: str = Field(alias="schema", description="the Avro schema, as JSON in a string")


class SchemaRequest(SchemaText):
    kind: str | None = Field(None, alias="schemaType", description="AVRO, or absent")


class SubjectVersion(BaseModel):
    subject: str = Field(description="the topic whose values it describes, and -value")
    version: int = Field(description="counts the subject's schemas, from 1")


class RegisteredSchema(SubjectVersion):
    id: int = Field(description="the schema id in the frame of every record written with it")
    text: str = Field(alias="schema", description="the Avro schema, as JSON in a string")


class RegistryProblem(Problem):
    """An error with a code of registries: the HTTP status, and two digits that say more."""

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(HTTPStatus(code // 100), "Registry error", detail, error_code=code)


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


def find_by_id(text: str) -> RegisteredSchema:
    """Raises RegistryProblem."""
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


def find_versions(subject: str) -> tuple[RegisteredSchema, ...]:
    """The subject's schemas, the oldest first. Raises RegistryProblem.

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
    return tuple(version.model_copy(update={"subject": subject}) for version in versions)


def find_version(subject: str, wanted: str) -> RegisteredSchema:
    """The version by its number, or the newest. Raises RegistryProblem."""
    every = find_versions(subject)
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


def look_up(subject: str, body: bytes, code: int) -> RegisteredSchema:
    """The subject's version that means what the schema of the request does.

    Raises RegistryProblem; with this code where there is none.
    """
    every, wanted = find_versions(subject), _parse_request(body)
    for version in reversed(every):
        if normalize(json.loads(version.text)) == wanted:
            return version
    raise RegistryProblem(
        code,
        f"Expected a schema of {subject} that has an id, found another; nothing is registered "
        f"here. Take that of GET /subjects/{subject}/versions/latest; a changed contract gets an "
        "id by retail contracts release.",
    )


def _parse_request(body: bytes) -> Any:
    try:
        request = SchemaRequest.model_validate_json(body)
        if request.kind not in (None, AVRO):
            raise ValueError(f"schemaType {request.kind}")
        return normalize(json.loads(request.text))
    except NO_SCHEMA as error:
        raise RegistryProblem(
            SCHEMA_INVALID,
            "Expected JSON with an Avro schema, as a string, in `schema`, found what is none: "
            f"{str(error)[:200]}.",
        ) from error


def normalize(schema: Any) -> Any:
    """What an Avro schema means: full names, no comments. Raises what Fastavro does."""
    return _strip(fastavro.parse_schema(schema, _write_hint=False))


def _strip(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strip(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: part if name == "default" else _strip(part)
        for name, part in schema.items()
        if name in MEANING
    }
    return kept["type"] if kept.keys() == {"type"} else kept
