"""GET /v1/views: the views, their filters, and the progress of each."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from contracts import BOOKS, CONTRACTS
from ops.generations.record import Generation
from services.api.http.filters import list_filters
from services.api.http.parameters import NoParameters
from services.api.http.problems import ITEM_PROBLEMS, NO_PROBLEMS, NotFound
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.store.store import Store
from services.api.store.tables import Document, Table
from services.times import render_instant, render_instant_or_none

router = Router(tags=["views"])

Name = Annotated[str, Path(description="the view's contract", max_length=200)]

TABLES = {
    each.name: Table(each)
    for _, each in sorted(CONTRACTS.items())
    if each.kind == "view" and each is not BOOKS  # the accounting rows of all pipelines
}
"""The table of each view that a pipeline may carry, by the name of its contract."""


class View(BaseModel):
    """Where a view's rows are published, for readers of the log."""

    view: str = Field(description="the contract")
    pipeline: str | None = Field(description="who writes it; null: nobody does")
    generation: int | None = Field(description="the promoted generation; null: there is none")
    topic: str | None = Field(description="the changelog of that generation")
    served: int | None = Field(
        description="the generation that this API answers from; null: none is loaded"
    )
    batch: int | None = Field(description="the pipeline's batch that it ends with")
    written_at: str | None = Field(description="when that batch's marker was written")
    rows: int | None = Field(description="how many rows it has")
    oldest_kept: str | None = Field(
        description="older rows were dropped; null: every row is kept, or there is none"
    )
    filters: list[str] = Field(description="what GET /v1/views/{name}/rows takes")


class Views(BaseModel):
    views: list[View]


@router.get(
    "/v1/views",
    summary="Every view: its filters, who writes it, and how far it has come",
    response_model=Views,
    responses=NO_PROBLEMS,
)
def list_views(store: FromStore, _: NoParameters) -> JSONResponse:
    return JSONResponse({"views": [_describe(store, table) for table in TABLES.values()]})


@router.get(
    "/v1/views/{name}",
    summary="One view, the promoted generation of it, and the topic that carries it",
    response_model=View,
    responses=ITEM_PROBLEMS,
)
def get_view(store: FromStore, name: Name, _: NoParameters) -> JSONResponse:
    view = _describe(store, find_table(name))
    if view["generation"] is None:
        raise store.create_missing(name)
    return JSONResponse(view)


def find_table(name: str) -> Table:
    """The table of a view. Raises Problem if there is no such view."""
    if name not in TABLES:
        raise NotFound(
            "Unknown view",
            f"Expected one of {', '.join(TABLES)}, found {name}.",
        )
    return TABLES[name]


def _describe(store: Store, table: Table) -> Document:
    promoted = find_promoted(store, table.view)
    return {
        "view": table.view,
        "pipeline": promoted.pipeline if promoted else None,
        "generation": promoted.number if promoted else None,
        "topic": promoted.outputs[table.view] if promoted else None,
        **_describe_served(store, table),
        "filters": list_filters(table.contract),
    }


def _describe_served(store: Store, table: Table) -> Document:
    """The generation that the API serves; all null while it serves none."""
    served = store.generations.find_view(table.view)
    if served is None or served.snapshots is None:
        return dict.fromkeys(("served", "batch", "written_at", "rows", "oldest_kept"))
    with served.snapshots.open() as snapshot:
        [[rows]] = snapshot.select(f"select count(*) from {table.name}")
        oldest_ms = snapshot.find_oldest_ms(table)
    return {
        "served": served.generation.number,
        "batch": snapshot.marker.batch,
        "written_at": render_instant(snapshot.marker.written_at_ms),
        "rows": rows,
        "oldest_kept": render_instant_or_none(oldest_ms),
    }


def find_promoted(store: Store, view: str) -> Generation | None:
    """The promoted generation that carries the view."""
    every = [known.promoted for known in tuple(store.generations.known.values())]
    return next((one for one in every if one and view in one.views), None)
