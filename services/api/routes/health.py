"""GET /healthz: whether the process works. GET /readyz: whether it answers from loaded views.

GET /v1/clock: world time, for clients that stamp their own records.
"""

from http import HTTPStatus

from fastapi import Response
from pydantic import BaseModel, Field

from infra.clock import get_wall_ms
from services.api.http.parameters import FromStore, NoParameters
from services.api.http.router import Router
from services.api.problem import Problem, Unavailable
from services.api.store.store import Store
from services.times import render_instant

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


class WorldTime(BaseModel):
    world_time: str = Field(description="what time it is in the world")
    world_ms: int = Field(description="the same, in milliseconds of 1970, as records are stamped")
    wall_ms: int = Field(description="the wall clock at that moment, likewise")
    speed: float = Field(description="seconds of world time per second of wall time, while running")
    state: str = Field(description="running, or stopped: then world time stands")


@router.get("/healthz", summary="Whether the process works", response_model_exclude_unset=True)
async def get_health(store: FromStore, _: NoParameters) -> Health:
    if not store.is_alive():
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Not healthy",
            "Expected every background thread at work, found one that ended. Restart the "
            "API; its log says what happened: make logs COMPONENT=api.",
        )
    return Health(status="ok")


@router.get(
    "/readyz",
    summary="Whether every promoted view is loaded that can be",
    description="A pipeline that is invalid, in trouble or without a marker does not affect the "
    "others: `missing` names it, and requests for its views are answered with a 503.",
    response_model_exclude_unset=True,
)
async def get_readiness(store: FromStore, _: NoParameters) -> Health:
    loading, missing = _classify(store)
    if loading:
        raise Unavailable(
            "Not ready",
            f"Expected every promoted view loaded, found {'; '.join(loading)}. "
            "It goes on by itself.",
        )
    said = {"missing": missing, "failing": store.list_failures()}
    return Health(status="ready", **{name: parts for name, parts in said.items() if parts})


@router.get(
    "/v1/clock",
    summary="What time it is in the world",
    description="World time is the timestamp of records. While the clock is running, the time is "
    "world_ms + (wall clock - wall_ms) * speed. Ask again from time to time: a simulator that "
    "falls behind sets the clock back.",
)
async def get_clock(store: FromStore, response: Response, _: NoParameters) -> WorldTime:
    clock, now_ms = store.get_world_clock(), get_wall_ms()
    response.headers["Cache-Control"] = "no-store"
    return WorldTime(
        world_time=render_instant(clock.world_at(now_ms)),
        world_ms=clock.world_at(now_ms),
        wall_ms=now_ms,
        speed=clock.clock.speed_milli / 1000,
        state=clock.state.value,
    )


def _classify(store: Store) -> tuple[list[str], list[str]]:
    """In words: what is loading, and what is missing without a need to wait for it."""
    generations = store.generations
    pipelines = sorted(generations.by_pipeline.items())
    served = [generations.find_served(name) for name, _ in pipelines]
    missing = [
        f"{name}: no promoted generation that may be trusted"
        for name, control in pipelines
        if control.promoted is None
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
