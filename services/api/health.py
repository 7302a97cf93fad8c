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
        summary="Whether every promoted view is loaded that can be",
        description="A pipeline that is invalid, in trouble or without a marker takes no other "
        "down: it is named in `missing`, and its own views are answered with a 503.",
        response_model=Health,
        responses=examples.ok({"status": "ok"})
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_readiness(_: NoParameters) -> JSONResponse:
        loading, missing = _standing(sources)
        if loading:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Not ready",
                f"Expected every promoted view loaded, found {'; '.join(loading)}. "
                "It goes on by itself.",
                headers={"Retry-After": "1"},
                progress=_progress(sources),
            )
        told = {"missing": missing} if missing else {}
        return JSONResponse({"status": "ready", **told})

    return router


def _standing(sources: Sources) -> tuple[list[str], list[str]]:
    """What has to be waited for, and what is missing but need not be; in words."""
    generations = sources.generations
    promotions = sorted(generations.promotions.items())
    followed = {name: generations.served(name) for name, _ in promotions}
    missing = [
        f"{name}: no promoted generation that may be trusted"
        for name, promotion in promotions
        if promotion.wanted is None
    ]
    loading: list[str] = []
    for each in followed.values():
        if each is not None and each.snapshots is None:
            (missing if each.hindrance() else loading).append(progress_text(each))
    if not any(each and each.snapshots for each in followed.values()):
        # Nothing is served at all: whatever is missing is waited for.
        nothing = sources.control.trouble or "no promoted generation in the control topic"
        return [*loading, *missing] or [nothing], []
    return loading, missing


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
