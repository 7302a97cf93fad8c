"""GET /healthz: the process works. GET /readyz: it answers from loaded views."""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from services.api import examples, problems
from services.api.models import Health, NoParameters
from services.api.problems import Problem
from services.api.sources import Sources, progress_text


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get(
        "/healthz",
        operation_id="getHealth",
        summary="Whether the process works",
        response_model=Health,
        responses=examples.ok({"status": "ok"})
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_health(_: NoParameters) -> JSONResponse:
        if not sources.alive():
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Not healthy",
                "Expected every background thread at work, found one that ended. Restart the "
                "API; its log says what happened: make logs COMPONENT=api.",
            )
        return JSONResponse({"status": "ok"})

    @router.get(
        "/readyz",
        operation_id="getReadiness",
        summary="Whether every promoted view is loaded",
        response_model=Health,
        responses=examples.ok({"status": "ok"})
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_readiness(_: NoParameters) -> JSONResponse:
        waiting = _waiting(sources)
        if waiting:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Not ready",
                f"Expected every promoted view loaded, found {'; '.join(waiting)}. "
                "It goes on by itself.",
                headers={"Retry-After": "1"},
                progress=_progress(sources),
            )
        return JSONResponse({"status": "ready"})

    return router


def _waiting(sources: Sources) -> list[str]:
    every = sources.generations.all()
    if not every:
        return [sources.control.trouble or "no promoted generation in the control topic"]
    pipelines = {each.generation.pipeline for each in every}
    served = (sources.generations.served(pipeline) for pipeline in sorted(pipelines))
    return [progress_text(each) for each in served if each and each.snapshots is None]


def _progress(sources: Sources) -> list[dict[str, Any]]:
    entries = []
    for each in sources.generations.all():
        read, total = each.progress()
        entries.append(
            {
                "pipeline": each.generation.pipeline,
                "generation": each.generation.number,
                "loaded": each.snapshots is not None,
                "records_read": read,
                "records_total": total,
            }
        )
    return entries
