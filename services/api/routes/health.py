"""GET /healthz: whether the process works. GET /readyz: whether it answers from loaded views."""

from http import HTTPStatus

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from services.api.http.answers import respond
from services.api.http.parameters import NoParameters
from services.api.http.problems import LIST_PROBLEMS, Problem
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.store.store import Store

router = Router(tags=["health"])


class Health(BaseModel):
    status: str = Field(description="ok or ready")
    missing: list[str] | None = Field(
        default=None, description="pipelines whose views are not there, and why; absent: none"
    )
    failing: list[str] | None = Field(
        default=None,
        description="parts of the API that fail and try again, and their errors; meanwhile they "
        "answer from what they have; absent: none",
    )


class Progress(BaseModel):
    """How far a generation is loaded."""

    pipeline: str
    generation: int
    loaded: bool
    records_read: int
    records_total: int


@router.get(
    "/healthz",
    summary="Whether the process works",
    **examples.answer(Health, {"status": "ok"}, LIST_PROBLEMS),
)
async def get_health(store: FromStore, _: NoParameters) -> JSONResponse:
    if not store.is_alive():
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Not healthy",
            "Expected every background thread at work, found one that ended. Restart the "
            "API; its log says what happened: make logs COMPONENT=api.",
        )
    return respond(Health(status="ok"))


@router.get(
    "/readyz",
    summary="Whether every promoted view is loaded that can be",
    description="A pipeline that is invalid, in trouble or without a marker does not affect the "
    "others: `missing` names it, and requests for its views are answered with a 503.",
    **examples.answer(Health, {"status": "ok"}, LIST_PROBLEMS),
)
async def get_readiness(store: FromStore, _: NoParameters) -> JSONResponse:
    loading, missing = _classify(store)
    if loading:
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Not ready",
            f"Expected every promoted view loaded, found {'; '.join(loading)}. "
            "It goes on by itself.",
            headers={"Retry-After": "1"},
            progress=[each.model_dump() for each in _list_progress(store)],
        )
    said = {"missing": missing, "failing": store.list_failures()}
    return respond(Health(status="ready", **{name: parts for name, parts in said.items() if parts}))


def _classify(store: Store) -> tuple[list[str], list[str]]:
    """In words: what is loading, and what is missing without a need to wait for it."""
    generations = store.generations
    pipelines = sorted(generations.known.items())
    served = [generations.find_served(name) for name, _ in pipelines]
    missing = [
        f"{name}: no promoted generation that may be trusted"
        for name, known in pipelines
        if known.promoted is None
    ]
    loading: list[str] = []
    for each in served:
        if each is not None and each.snapshots is None:
            (missing if each.explain_absence() else loading).append(each.describe_progress())
    if not any(each and each.snapshots for each in served):
        # The API serves nothing yet: it waits for everything that is missing.
        nothing = store.control.trouble or "no promoted generation in the control topic"
        return [*loading, *missing] or [nothing], []
    return loading, missing


def _list_progress(store: Store) -> list[Progress]:
    entries = []
    for each in store.generations.list_all():
        read, total = each.measure_progress()
        entries.append(
            Progress(
                pipeline=each.generation.pipeline,
                generation=each.generation.number,
                loaded=each.snapshots is not None,
                records_read=read,
                records_total=total,
            )
        )
    return entries
