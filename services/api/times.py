"""GET /v1/clock: what time it is in the world, for whoever stamps records of their own."""

from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from services.api import examples, problems
from services.api.models import NoParameters, WorldTime
from services.api.problems import Problem
from services.api.sources import Sources
from services.api.tables import instant
from services.api.world import WorldClock
from services.clock import wall_ms


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["world"])

    @router.get(
        "/v1/clock",
        operation_id="getClock",
        summary="What time it is in the world",
        description="Records are stamped with world time. Later, while the clock is running, it is "
        "world_ms + (wall clock - wall_ms) * speed; better ask again from time to time: a "
        "simulator that falls behind sets it back.",
        response_model=WorldTime,
        responses=examples.ok(examples.WORLD_TIME)
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def get_clock(_: NoParameters) -> JSONResponse:
        clock, now_ms = world_clock(sources), wall_ms()
        answer = {
            "world_time": instant(clock.at(now_ms)),
            "world_ms": clock.at(now_ms),
            "wall_ms": now_ms,
            "speed": clock.speed_milli / 1000,
            "state": "running" if clock.running else "stopped",
        }
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    return router


def world_ms(sources: Sources) -> int:
    """What time it is in the world, in epoch ms; raises Problem while nobody has said so."""
    return world_clock(sources).at(wall_ms())


def clock_ms(sources: Sources) -> int | None:
    """The same; None while nobody has said so."""
    world = sources.control.world
    return None if world is None else world.at(wall_ms())


def world_clock(sources: Sources) -> WorldClock:
    if sources.control.world is None:
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "No world clock",
            "Expected a world clock to tell the time by, found none in private.control.clock.v1. "
            "The simulator announces it: make up.",
            headers={"Retry-After": "1"},
        )
    return sources.control.world
