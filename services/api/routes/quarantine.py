"""GET /v1/quarantine: the rejected records, the reasons, and the remedies."""

import sqlite3
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Path, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import QUARANTINE, build_model
from contracts.validation import VALIDATED
from services.api.http.answers import NextCursor, OffsetsByTopic
from services.api.http.pages import Page, PageRequest, select_page
from services.api.http.parameters import NoParameters, PageQuery
from services.api.http.problems import ITEM_PROBLEMS, LIST_PROBLEMS, NotFound
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.store.marker import group_by_topic
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import NEWEST_REJECTIONS_FIRST, REJECTIONS_TABLE
from services.api.store.selection import WHOLE_MAX, Selection, match
from services.api.store.tables import AnyJson, Document, Stored, to_document
from services.quarantine.remedy import dissect, find_remedy

WORDS_MAX = 300
GENERATION = 1  # of every cursor: the quarantine has one generation
BYTES = ("key", "value", "headers")
"""The fields of a whole record that lists leave out."""

COLUMNS = REJECTIONS_TABLE.columns
COUNTS = f"select topic, reason, count(*) from {REJECTIONS_TABLE.name} group by topic, reason"

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


def _list_fields() -> AnyJson:
    """The fields of a rejected record, without its bytes, for `create_model`."""
    fields = build_model(QUARANTINE).model_fields.items()
    return {name: (info.annotation, info) for name, info in fields if name not in BYTES}


ListedRejection: type[BaseModel] = create_model(
    "ListedRejection", __doc__="A rejected record, without its bytes.", **_list_fields()
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
    __doc__="A rejected record, whole, with what can be read of its value.",
    fields=(AnyJson, Field(description="the fields that can be read, in their order")),
    rest=(str | None, Field(description="the bytes after them, in hexadecimal digits")),
    fault=(str | None, Field(description="why no more can be read; null: nothing is missing")),
    remedy=(str | None, Field(description="what can be done about it")),
    releasable=(
        bool,
        Field(description="whether a release may be asked for; it is refused of what has counted"),
    ),
)


@router.get(
    "/v1/quarantine",
    summary="Rejected records, the newest first, in pages",
    **examples.answer(QuarantinePage, examples.QUARANTINE_PAGE, LIST_PROBLEMS),
)
def list_quarantine(store: FromStore, query: Annotated[QuarantineQuery, Query()]) -> JSONResponse:
    with store.rejections.open() as connection:
        page = select_rejections(connection, query)
        counts = connection.execute(COUNTS).fetchall()
        as_of = group_by_topic(read_offsets(connection, QUARANTINE.name))
    return JSONResponse(
        {
            "items": [_render_listed(row) for row in page.items],
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
    **examples.answer(Rejected, examples.REJECTED, ITEM_PROBLEMS),
)
def get_rejected(
    store: FromStore, topic: Topic, partition: Number, offset: Number, _: NoParameters
) -> JSONResponse:
    with store.rejections.open() as connection:
        place = (topic, partition, offset)
        row = connection.execute(REJECTIONS_TABLE.select_one, place).fetchone()
    if row is None:
        raise NotFound(
            "Not in quarantine",
            f"Expected a rejected record, found none at {topic}/{partition}/{offset}. "
            "List those there are with GET /v1/quarantine.",
        )
    return JSONResponse(render_whole(row))


def select_rejections(connection: sqlite3.Connection, query: QuarantineQuery) -> Page[Stored]:
    """The requested page of rejected records. Raises Problem."""
    filters = query.select_filters()
    selection = Selection(
        REJECTIONS_TABLE, match(filters), NEWEST_REJECTIONS_FIRST, descending=True
    )
    request = PageRequest(
        limit=query.limit,
        cursor=query.cursor,
        question=urlencode(filters),
        types=selection.types,
        generation=GENERATION,
    )
    return select_page(connection.execute, selection, request)


def _render_listed(row: Stored) -> Document:
    document = REJECTIONS_TABLE.to_json(row)
    return {name: value for name, value in document.items() if name not in BYTES}


def render_whole(row: Stored) -> Document:
    """The whole record, the readable part of its value, and the remedy."""
    document = REJECTIONS_TABLE.to_json(row)
    stored = dict(zip(COLUMNS, row, strict=True))
    contract = VALIDATED.get(stored["topic"])
    if contract is None:  # the topic no longer exists
        unread: Document = {"fields": {}, "rest": None, "fault": None, "remedy": None}
        return {**document, **unread, "releasable": False}
    parts = dissect(contract, stored["value"])
    remedy = find_remedy(contract, stored["reason"], stored["value"])
    return {
        **document,
        "fields": to_document(parts.fields),
        "rest": parts.rest.hex(),
        "fault": parts.fault,
        "remedy": remedy.text,
        "releasable": remedy.event is not None,
    }
