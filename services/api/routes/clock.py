"""GET /v1/clock: world time, for clients that stamp their own records."""

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from services.api.http.answers import respond
from services.api.http.parameters import NoParameters
from services.api.http.problems import LIST_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.clock import get_wall_ms
from services.times import render_instant

router = Router(tags=["world"])


class WorldTime(BaseModel):
    world_time: str = Field(description="what time it is in the world")
    world_ms: int = Field(description="the same, in milliseconds of 1970, as records are stamped")
    wall_ms: int = Field(description="the wall clock at that moment, likewise")
    speed: float = Field(description="seconds of world time per second of wall time, while running")
    state: str = Field(description="running, or stopped: then world time stands")


@router.get(
    "/v1/clock",
    summary="What time it is in the world",
    description="World time is the timestamp of records. While the clock is running, the time is "
    "world_ms + (wall clock - wall_ms) * speed. Ask again from time to time: a simulator that "
    "falls behind sets the clock back.",
    **examples.answer(WorldTime, examples.WORLD_TIME, LIST_PROBLEMS),
)
async def get_clock(store: FromStore, _: NoParameters) -> JSONResponse:
    clock, now_ms = store.get_world_clock(), get_wall_ms()
    answer = respond(
        WorldTime(
            world_time=render_instant(clock.world_at(now_ms)),
            world_ms=clock.world_at(now_ms),
            wall_ms=now_ms,
            speed=clock.clock.speed_milli / 1000,
            state=clock.state.value,
        )
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer
