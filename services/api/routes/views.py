"""GET /v1/views: the views, the meaning of their rows, and the progress of each."""

from typing import Annotated, TypedDict

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
from services.api.routes import examples
from services.api.routes.topics import TopicField, render
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

DESCRIBED = ("description", "key", "retention_seconds", "grace_seconds", "fields")
"""The members of a topic's description that a view has too."""


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
    description: str = Field(description="what a row says")
    key: list[str] = Field(description="the fields of a row's key")
    retention_seconds: int | None = Field(
        description="how much older than the newest a row may be before it is dropped"
    )
    grace_seconds: int | None = Field(
        description="how long after a window's end an event may be published and be on time"
    )
    fields: list[TopicField]
    filters: list[str] = Field(description="what GET /v1/views/{name}/rows takes")


class Views(BaseModel):
    views: list[View]


class ServedMembers(TypedDict):
    """The members of a view that describe the generation that the API serves."""

    served: int | None
    batch: int | None
    written_at: str | None
    rows: int | None
    oldest_kept: str | None


@router.get(
    "/v1/views",
    summary="Every view: its fields and filters, who writes it, and how far it has come",
    **examples.answer(Views, {"views": [examples.VIEW]}, NO_PROBLEMS),
)
def list_views(store: FromStore, _: NoParameters) -> JSONResponse:
    return JSONResponse({"views": [_describe(store, table) for table in TABLES.values()]})


@router.get(
    "/v1/views/{name}",
    summary="One view, the promoted generation of it, and the topic that carries it",
    **examples.answer(View, examples.VIEW, ITEM_PROBLEMS),
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
    promoted = _find_promoted(store, table.view)
    topic = render(table.contract)
    return {
        "view": table.view,
        "pipeline": promoted.pipeline if promoted else None,
        "generation": promoted.number if promoted else None,
        "topic": promoted.outputs[table.view] if promoted else None,
        **_describe_served(store, table),
        **{name: topic[name] for name in DESCRIBED},
        "filters": list_filters(table.contract),
    }


def _describe_served(store: Store, table: Table) -> ServedMembers:
    """The generation that the API serves; all null while it serves none."""
    served = store.generations.find_view(table.view)
    if served is None or served.snapshots is None:
        return ServedMembers(served=None, batch=None, written_at=None, rows=None, oldest_kept=None)
    with served.snapshots.open() as snapshot:
        [[rows]] = snapshot.select(f"select count(*) from {table.name}")
        oldest_ms = snapshot.find_oldest_ms(table)
    return ServedMembers(
        served=served.generation.number,
        batch=snapshot.marker.batch,
        written_at=render_instant(snapshot.marker.written_at_ms),
        rows=rows,
        oldest_kept=render_instant_or_none(oldest_ms),
    )


def _find_promoted(store: Store, view: str) -> Generation | None:
    for known in tuple(store.generations.known.values()):
        promoted = known.promoted
        if promoted is not None and view in promoted.views:
            return promoted
    return None
