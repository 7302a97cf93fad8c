"""The common parts of answers: their JSON, and the members that date them."""

from typing import Annotated, Any, NotRequired, TypedDict

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from infra.kafka import Offsets
from services.api.store.marker import Marker, group_by_topic
from services.api.store.store import Store

OffsetsByTopic = dict[str, list[int]]

NextCursor = Annotated[str | None, Field(description="cursor of the next page; null on the last")]
"""The member of a page with the cursor of the next one."""


class AsOf(BaseModel):
    generation: int = Field(description="the pipeline's generation that made it")
    batch: int = Field(description="the pipeline's batch that the answer ends with")
    inputs: OffsetsByTopic = Field(
        description="per input topic, one per partition: the offset of the first record not in it"
    )


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


class TopicsAsOf(BaseModel):
    inputs: OffsetsByTopic = Field(
        description="per topic, one per partition: the offset of the first record not in it"
    )


class LakeAsOf(BaseModel):
    inputs: OffsetsByTopic = Field(
        description="up to where the tables that were read hold the log: per topic, one per "
        "partition, the offset of the first record not in it"
    )


class TopicsPage(BaseModel):
    """A page of a list from mirrored topics."""

    items: list[Any]
    next: NextCursor
    as_of: TopicsAsOf = Field(description="what has been read")


class AsOfMembers(TypedDict):
    """The members of `AsOf`."""

    generation: int
    batch: int
    inputs: OffsetsByTopic


class DateMembers(TypedDict):
    """The members of `Dated`."""

    freshness_ms: int | None
    as_of: AsOfMembers
    freshness_unknown: NotRequired[str]


class InputsMembers(TypedDict):
    """The members of `TopicsAsOf` and `LakeAsOf`."""

    inputs: OffsetsByTopic


class AsOfMember(TypedDict):
    """The member that dates an answer from mirrored topics or from the lake."""

    as_of: InputsMembers


def date(store: Store, marker: Marker) -> DateMembers:
    """The members with the marker and the age of an answer."""
    age_ms, reason = store.freshness.measure(marker.inputs)
    dates: DateMembers = {
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


def date_by_offsets(inputs: Offsets) -> AsOfMember:
    """The member with the offsets up to which topics were read."""
    return {"as_of": {"inputs": group_by_topic(inputs)}}


def respond(document: BaseModel, status: int = 200) -> JSONResponse:
    """The document as JSON, without members that were not set."""
    return JSONResponse(document.model_dump(exclude_unset=True), status)
