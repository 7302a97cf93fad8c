"""GET /v1/views: which views there are, what their rows say, and where each stands."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from contracts import BOOKS, CONTRACTS, Contract
from services.api import examples, problems
from services.api.filters import accepted
from services.api.generation import Generation
from services.api.models import NoParameters, View, Views
from services.api.problems import Problem
from services.api.sources import Sources
from services.api.tables import Table, instant
from services.api.topics import described

Name = Annotated[str, Path(description="the view's contract", max_length=200)]

TABLES = {
    each.name: Table(each)
    for _, each in sorted(CONTRACTS.items())
    if each.kind == "view" and each is not BOOKS  # which belong to every pipeline's answers
}
"""By the name of its contract, the table of each view that a pipeline may carry."""


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["views"])

    @router.get(
        "/v1/views",
        operation_id="listViews",
        summary="Every view: its fields and filters, who writes it, and how far it has come",
        response_model=Views,
        responses=examples.ok({"views": [examples.VIEW]}) | problems.responses(),
    )
    def list_views(_: NoParameters) -> JSONResponse:
        return JSONResponse({"views": [_told(sources, table) for table in TABLES.values()]})

    @router.get(
        "/v1/views/{name}",
        operation_id="getView",
        summary="One view, the promoted generation of it, and the topic that carries it",
        response_model=View,
        responses=examples.ok(examples.VIEW)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def get_view(name: Name, _: NoParameters) -> JSONResponse:
        told = _told(sources, view_table(name))
        if told["generation"] is None:
            raise sources.missing(name)
        return JSONResponse(told)

    return router


def view_table(name: str) -> Table:
    """The table of a view; raises Problem where there is no such view."""
    if name not in TABLES:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "Unknown view",
            f"Expected one of {', '.join(TABLES)}, found {name}.",
        )
    return TABLES[name]


def _told(sources: Sources, table: Table) -> dict[str, Any]:
    promoted = _promoted(sources, table.view)
    return {
        "view": table.view,
        "pipeline": promoted.pipeline if promoted else None,
        "generation": promoted.number if promoted else None,
        "topic": promoted.topics[table.view] if promoted else None,
        **_served(sources, table),
        **_described(table.contract),
    }


def _served(sources: Sources, table: Table) -> dict[str, Any]:
    """What the API answers from; all null while that is nothing."""
    served = sources.generations.serving(table.view)
    if served is None or served.snapshots is None:
        return dict.fromkeys(("served", "batch", "written_at", "rows", "oldest_kept"))
    with served.snapshots.reading() as snapshot:
        [[rows]] = snapshot.rows(f"select count(*) from {table.name}")
        oldest_ms = snapshot.oldest_kept(table)
    return {
        "served": served.generation.number,
        "batch": snapshot.marker.batch,
        "written_at": instant(snapshot.marker.written_at_ms),
        "rows": rows,
        "oldest_kept": None if oldest_ms is None else instant(oldest_ms),
    }


def _described(view: Contract) -> dict[str, Any]:
    told = described(view)
    members = ("description", "key", "retention_seconds", "grace_seconds", "fields")
    return {**{name: told[name] for name in members}, "filters": accepted(view)}


def _promoted(sources: Sources, view: str) -> Generation | None:
    for promotion in tuple(sources.generations.promotions.values()):
        promoted = promotion.wanted
        if promoted is not None and view in promoted.views:
            return promoted
    return None
