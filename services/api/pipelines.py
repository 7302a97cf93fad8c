"""GET /v1/pipelines: where every pipeline stands, how fast it moves, and its books."""

import sqlite3
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from services.api import examples, problems
from services.api.books import books, published_max_ms
from services.api.generation import Promotion
from services.api.marker import Offsets
from services.api.materializer import Materializer
from services.api.models import NoParameters, Pipeline, Pipelines
from services.api.problems import Problem
from services.api.snapshots import Snapshots
from services.api.sources import Sources, progress_text
from services.api.tables import instant
from services.clock import wall_ms

Name = Annotated[str, Path(description="the pipeline", max_length=64)]


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["pipelines"])

    @router.get(
        "/v1/pipelines",
        operation_id="listPipelines",
        summary="Lag, rate and books of every pipeline",
        response_model=Pipelines,
        responses=examples.ok(examples.PIPELINES) | problems.responses(),
    )
    def list_pipelines(_: NoParameters) -> JSONResponse:
        return JSONResponse({"pipelines": list(standings(sources).values())})

    @router.get(
        "/v1/pipelines/{pipeline}",
        operation_id="getPipeline",
        summary="Lag, rate and books of one pipeline",
        response_model=Pipeline,
        responses=examples.ok(examples.PIPELINES["pipelines"][0])
        | problems.responses(HTTPStatus.NOT_FOUND),
    )
    def get_pipeline(pipeline: Name, _: NoParameters) -> JSONResponse:
        promotion = sources.generations.promotions.get(pipeline)
        if promotion is None:
            raise unknown_pipeline(sources, pipeline)
        return JSONResponse(standing(sources, promotion))

    return router


def unknown_pipeline(sources: Sources, name: str) -> Problem:
    known = ", ".join(sorted(sources.generations.promotions)) or "none yet"
    return Problem(
        HTTPStatus.NOT_FOUND, "Unknown pipeline", f"Expected one of {known}, found {name}."
    )


def standings(sources: Sources) -> dict[str, dict[str, Any]]:
    """Where every pipeline stands, by name."""
    every = sorted(sources.generations.promotions.items())
    return {name: standing(sources, promotion) for name, promotion in every}


def standing(sources: Sources, promotion: Promotion) -> dict[str, Any]:
    """Where the pipeline stands; figures are there once its views are loaded."""
    name = promotion.pipeline
    served = sources.generations.served(name)
    loading = sources.generations.loading(name)
    told: dict[str, Any] = {
        "pipeline": name,
        "promoted": promotion.promoted,
        "generations": [
            {
                "number": each.number,
                "state": each.state,
                "loaded": is_loaded(sources.generations.of(name, each.number)),
            }
            | ({"reason": each.reason} if each.reason else {})
            for each in promotion.generations.values()
        ],
    }
    if loading is not None:
        told["loading"] = progress_text(loading)
    if served is None or served.snapshots is None:
        return told
    told |= {"generation": served.generation.number, "views": list(served.generation.views)}
    try:
        return told | _figures(sources, served, served.snapshots)
    except sqlite3.DatabaseError as error:  # one damaged file must not hide all other pipelines
        return told | {"trouble": str(error)}


def is_loaded(materializer: Materializer | None) -> bool:
    """Whether its views could be served at once."""
    return materializer is not None and materializer.snapshots is not None


def _figures(sources: Sources, served: Materializer, snapshots: Snapshots) -> dict[str, Any]:
    with snapshots.reading() as snapshot:
        marker = snapshot.marker
        kept, newest_ms = books(snapshot), published_max_ms(snapshot)
    lags = lag_records(marker.inputs, sources.freshness.ends())
    total = sum(lags.values()) if lags else None
    rate = served.rate.per_second()
    figures: dict[str, Any] = {
        "lag_records": total,
        "lag_records_by_input": lags,
        "rate_per_second": None if rate is None else round(rate, 1),
        "behind_world_seconds": _behind_seconds(sources, newest_ms, total),
        "marker_written_at": instant(marker.written_at_ms),
        "books": kept,
        **sources.dated(marker),
    }
    if served.trouble:
        figures["trouble"] = served.trouble
    return figures


def lag_records(inputs: Offsets, ends: Offsets) -> dict[str, int] | None:
    """Records in each input topic that are not counted yet; None before the log was asked."""
    topics = sorted({topic for topic, _ in inputs})
    if not topics or any((at not in ends) for at in inputs):
        return None
    lags = dict.fromkeys(topics, 0)
    for at, end in ends.items():
        if at[0] in lags:
            lags[at[0]] += max(0, end - inputs.get(at, 0))
    return lags


def _behind_seconds(sources: Sources, newest_ms: int | None, lag: int | None) -> float | None:
    """Seconds of world time between what is counted and now; none where all is counted."""
    if lag == 0:
        return 0.0
    world = sources.control.world
    if world is None or newest_ms is None:
        return None
    return max(0, world.at(wall_ms()) - newest_ms) / 1000
