"""The common parts of answers: their JSON, the members that date them, and their number at once."""

from collections.abc import Generator
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Annotated, Any

import anyio
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from infra.kafka import Offsets
from services.api.problem import Problem
from services.api.store.marker import Marker, group_by_topic
from services.api.store.store import Store

RETRY_SECONDS = 5

OffsetsByTopic = dict[str, list[int]]

NextCursor = Annotated[str | None, Field(description="cursor of the next page; null on the last")]
"""The member of a page with the cursor of the next one."""


class TopicsAsOf(BaseModel):
    inputs: OffsetsByTopic = Field(
        description="per topic, one per partition: the offset of the first record not in it"
    )


class AsOf(TopicsAsOf):
    generation: int = Field(description="the pipeline's generation that made it")
    batch: int = Field(description="the pipeline's batch that the answer ends with")


class Dated(BaseModel):
    freshness_ms: int | None = Field(
        description="the answer holds everything that the log held so many milliseconds ago; "
        "null: not known",
        json_schema_extra={"unit": "milliseconds"},
    )
    freshness_unknown: str | None = Field(
        default=None, description="why freshness_ms is null; absent when it is known"
    )
    as_of: AsOf = Field(description="what has been counted")


class TopicsPage(BaseModel):
    """A page of a list from topics or from the lake."""

    items: list[Any]
    next: NextCursor
    as_of: TopicsAsOf = Field(description="what has been read")


def date(store: Store, marker: Marker) -> dict[str, Any]:
    """The members of `Dated`: the marker and the age of an answer."""
    age_ms, reason = store.freshness.measure(marker.inputs)
    dates: dict[str, Any] = {
        "freshness_ms": age_ms,
        "as_of": {
            "generation": marker.generation,
            "batch": marker.batch,
            "inputs": group_by_topic(marker.inputs),
        },
    }
    if reason is not None:
        dates["freshness_unknown"] = reason
    return dates


def date_by_offsets(inputs: Offsets) -> dict[str, Any]:
    """The member `as_of` of an answer from topics or the lake: up to where they were read."""
    return {"as_of": {"inputs": group_by_topic(inputs)}}


class Slots:
    """The number of long answers of one kind, such as `exports`, that the app gives at once.

    Each taken slot is freed once.
    """

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._free = BoundedSemaphore(most)

    def take(self) -> None:
        """Take a slot. Raises Problem when none is free."""
        if not self._free.acquire(blocking=False):
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"Too many {self._kind}",
                f"Expected at most {self._most} {self._kind} at a time, found more. Try again when "
                "one of them has ended.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )

    def free(self) -> None:
        self._free.release()


class LongAnswer(StreamingResponse):
    """A stream in a slot. It ends after `seconds_max` at the latest, and then frees the slot.

    The connection of a reader that takes nothing is cut by the server.
    """

    def __init__(
        self,
        parts: Generator[bytes, None, None],
        media_type: str,
        slots: Slots,
        seconds_max: float,
    ) -> None:
        """Raises Problem when no slot is free."""
        slots.take()
        headers = {"Cache-Control": "no-store"}
        super().__init__(parts, media_type=media_type, headers=headers)
        self._parts = parts
        self._slots = slots
        self._seconds_max = seconds_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.move_on_after(self._seconds_max):
                await super().__call__(scope, receive, send)
        finally:
            self._parts.close()
            self._slots.free()
