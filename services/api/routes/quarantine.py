"""GET /v1/quarantine: the rejected records, the reasons, and the remedies."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import QUARANTINE, Undecodable, build_model, decode
from contracts.validation import VALIDATED
from services.api.http.answers import NextCursor, OffsetsByTopic
from services.api.http.parameters import FromStore, NoParameters, PageQuery
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound
from services.api.store.marker import group_by_topic
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import REJECTIONS
from services.api.store.tables import WHOLE_MAX, AnyJson, Document, Stored, to_document
from services.quarantine.release import find_remedy

WORDS_MAX = 300
BYTES = ("key", "value", "headers")
"""The fields of a whole record that lists leave out."""

COUNTS = f"select topic, reason, count(*) from {REJECTIONS.table.name} group by topic, reason"

router = Router(tags=["quarantine"])

Topic = Annotated[str, Path(description="the topic it was published in", max_length=249)]
Number = Annotated[int, Path(ge=0, le=WHOLE_MAX)]


class QuarantineQuery(PageQuery):
    topic: str | None = Field(None, max_length=249, description="records of this topic only")
    reason: str | None = Field(
        None,
        max_length=WORDS_MAX,
        description="undecodable, wrong-key, wrong-partition, late, future, unreleasable, or the "
        "name of a rule",
    )


class QuarantineCount(BaseModel):
    topic: str
    reason: str
    records: int = Field(description="records of this topic that were rejected for this reason")


FIELDS: AnyJson = {
    name: (info.annotation, info)
    for name, info in build_model(QUARANTINE).model_fields.items()
    if name not in BYTES
}
ListedRejection: type[BaseModel] = create_model(
    "ListedRejection", __doc__="A rejected record, without its bytes.", **FIELDS
)


class QuarantinePage(BaseModel):
    """Some of what was rejected, the newest first."""

    items: list[ListedRejection] = Field(description="the records of this page")
    next: NextCursor
    counts: list[QuarantineCount] = Field(description="all there are, whatever the filters")
    as_of: OffsetsByTopic = Field(
        description="the quarantine's topic, one per partition: the first offset not read yet"
    )


Rejected: type[BaseModel] = create_model(
    "Rejected",
    __base__=build_model(QUARANTINE),
    __doc__="A rejected record, whole, with the fields of its value.",
    fields=(AnyJson, Field(description="the fields, if the value decodes")),
    fault=(str | None, Field(description="why it does not decode; null: it does")),
    remedy=(str | None, Field(description="what can be done about it")),
    releasable=(
        bool,
        Field(description="whether a release may be asked for; it is refused of what has counted"),
    ),
)


@router.get(
    "/v1/quarantine",
    summary="Rejected records, the newest first, in pages",
    response_model=QuarantinePage,
)
def list_quarantine(store: FromStore, query: Annotated[QuarantineQuery, Query()]) -> JSONResponse:
    selection, request = query.request_newest("rejections", REJECTIONS)
    with store.open(REJECTIONS) as connection:
        page = request.select(connection.execute, selection)
        counts = connection.execute(COUNTS).fetchall()
        as_of = group_by_topic(read_offsets(connection, QUARANTINE.name))
    return JSONResponse(
        {
            "items": [
                {name: value for name, value in row.items() if name not in BYTES}
                for row in map(REJECTIONS.table.to_json, page.items)
            ],
            "next": page.next,
            "counts": [
                {"topic": topic, "reason": reason, "records": records}
                for topic, reason, records in counts
            ],
            "as_of": as_of,
        }
    )


@router.get(
    "/v1/quarantine/{topic}/{partition}/{offset}",
    summary="One rejected record, whole",
    response_model=Rejected,
    responses=ITEM_PROBLEMS,
)
def get_rejected(
    store: FromStore, topic: Topic, partition: Number, offset: Number, _: NoParameters
) -> JSONResponse:
    with store.open(REJECTIONS) as connection:
        place = (topic, partition, offset)
        row = connection.execute(REJECTIONS.table.select_one, place).fetchone()
    if row is None:
        raise NotFound(
            "Not in quarantine",
            f"Expected a rejected record, found none at {topic}/{partition}/{offset}. "
            "List those there are with GET /v1/quarantine.",
        )
    return JSONResponse(_render_whole(row))


def _render_whole(row: Stored) -> Document:
    """The whole record, the fields of its value, and the remedy."""
    document = REJECTIONS.table.to_json(row)
    stored = dict(zip(REJECTIONS.table.columns, row, strict=True))
    contract = VALIDATED.get(stored["topic"])
    if contract is None:  # the topic no longer exists
        unread: Document = {"fields": {}, "fault": None, "remedy": None, "releasable": False}
        return {**document, **unread}
    fields, fault = _decode(stored["value"])
    remedy = find_remedy(contract, stored["reason"], stored["value"])
    return {
        **document,
        "fields": fields,
        "fault": fault,
        "remedy": remedy.text,
        "releasable": remedy.event is not None,
    }


def _decode(value: bytes | None) -> tuple[Document, str | None]:
    """The fields of the value, and why there are none."""
    try:
        return to_document(decode(value).value), None
    except Undecodable as error:
        return {}, error.reason
