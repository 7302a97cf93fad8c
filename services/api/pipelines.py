"""GET /v1/pipelines: where every pipeline stands, how fast it moves, and its books."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from services.api import examples, problems
from services.api.books import books, published_max_ms
from services.api.marker import Offsets
from services.api.materializer import Materializer
from services.api.models import NoParameters, Pipelines
from services.api.sources import Sources, progress_text
from services.api.tables import instant
from services.clock import wall_ms


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
        return JSONResponse(
            {
                "pipelines": [
                    standing(sources, name) for name in sorted(sources.generations.promotions)
                ]
            }
        )

    return router


def standing(sources: Sources, name: str) -> dict[str, Any]:
    """Where the pipeline stands; figures are there once its views are loaded."""
    promotion = sources.generations.promotions[name]
    served = sources.generations.served(name)
    loading = sources.generations.loading(name)
    told: dict[str, Any] = {
        "pipeline": name,
        "promoted": promotion.promoted,
        "generations": [
            {"number": each.number, "state": each.state} for each in promotion.generations.values()
        ],
    }
    if loading is not None:
        told["loading"] = progress_text(loading)
    if served is None or served.snapshots is None:
        return told
    return {**told, "generation": served.generation.number, **_figures(sources, served)}


def _figures(sources: Sources, served: Materializer) -> dict[str, Any]:
    assert served.snapshots is not None
    with served.snapshots.reading() as snapshot:
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
