"""GET /v1/topics: what every topic and view holds, as its contract says."""

from datetime import timedelta
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from contracts import ADJUSTMENTS, CONTRACTS, Contract, Field, schema_id, schemas_of
from services.api import examples, problems
from services.api.models import NoParameters, Topic, Topics
from services.api.problems import Problem
from services.api.tables import Table

Name = Annotated[str, Path(description="the topic's contract", max_length=200)]


def routes() -> APIRouter:
    router = APIRouter(tags=["topics"])

    @router.get(
        "/v1/topics",
        operation_id="listTopics",
        summary="Every topic and view with its contract",
        response_model=Topics,
        responses=examples.ok({"topics": [described(ADJUSTMENTS)]}) | problems.responses(),
    )
    async def list_topics(_: NoParameters) -> JSONResponse:
        return JSONResponse({"topics": [described(one) for _, one in sorted(CONTRACTS.items())]})

    @router.get(
        "/v1/topics/{name}",
        operation_id="getTopic",
        summary="One topic or view with its contract",
        response_model=Topic,
        responses=examples.ok(described(ADJUSTMENTS)) | problems.responses(HTTPStatus.NOT_FOUND),
    )
    async def get_topic(name: Name, _: NoParameters) -> JSONResponse:
        if name not in CONTRACTS:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Unknown topic",
                f"Expected one of {', '.join(sorted(CONTRACTS))}, found {name}.",
            )
        return JSONResponse(described(CONTRACTS[name]))

    return router


@cache
def described(contract: Contract) -> dict[str, Any]:
    """All that a reader of the topic has to know, with one of its records."""
    return {
        "name": contract.name,
        "kind": contract.kind,
        "visibility": contract.visibility,
        "owner": contract.owner,
        "description": contract.description,
        "key": list(contract.key),
        "event_time": contract.event_time,
        "horizon_seconds": _seconds(contract.horizon),
        "skew_seconds": _seconds(contract.skew),
        "retention_seconds": _seconds(contract.retention),
        "grace_seconds": _seconds(contract.grace),
        "partitions": contract.settings.partitions,
        "config": dict(contract.settings.config),
        "schema_id": schema_id(contract),
        "schema_ids": sorted(schemas_of(contract)),
        "fields": [_field(field) for field in contract.fields],
        "rules": [{"name": rule.name, "description": rule.description} for rule in contract.rules],
        "example": _example(contract),
    }


def _field(field: Field) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "unit": field.unit,
        "required": field.required,
        "description": field.description,
    }
    if field.fields:
        told["fields"] = [_field(inner) for inner in field.fields]
    return told


def _example(contract: Contract) -> dict[str, Any]:
    table = Table(contract)
    return table.shown(table.stored(contract.examples[0]))


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else round(span.total_seconds())
