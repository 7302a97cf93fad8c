"""GET /v1/quarantine: what was rejected, why, and what can be done about it."""

import sqlite3
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import QUARANTINE
from contracts.judging import JUDGED
from services.api import examples, problems
from services.api.copying import reached
from services.api.cursors import CHARACTERS_MAX, WHOLE_MAX, Cursor, resume
from services.api.marker import by_topic
from services.api.models import NoParameters, Parameters, QuarantinePage, Rejected
from services.api.problems import Problem
from services.api.rejections import NEWEST_FIRST, TABLE
from services.api.selecting import LIMIT_DEFAULT, LIMIT_MAX
from services.api.sources import Sources
from services.api.tables import plain
from services.quarantine.anatomy import anatomy
from services.quarantine.remedy import remedy

WORDS_MAX = 300
GENERATION = 1  # a cursor asks for one; the quarantine has no other

LISTED = tuple(name for name in TABLE.columns if name not in ("key", "value", "headers"))
COUNTS = f"select topic, reason, count(*) from {TABLE.name} group by topic, reason"

Topic = Annotated[str, Path(description="the topic it was published in", max_length=249)]
Number = Annotated[int, Path(ge=0, le=WHOLE_MAX)]


class QuarantineQuery(Parameters):
    topic: str | None = Field(None, max_length=249, description="records of this topic only")
    reason: str | None = Field(
        None,
        max_length=WORDS_MAX,
        description="undecodable, wrong-key, late, future, unreleasable, or the name of a rule",
    )
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="records per page")
    cursor: str | None = Field(
        None, max_length=CHARACTERS_MAX, description="`next` of the page before"
    )

    def conditions(self) -> dict[str, str]:
        return self.model_dump(include={"topic", "reason"}, exclude_none=True)


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["quarantine"])

    @router.get(
        "/v1/quarantine",
        operation_id="listQuarantine",
        summary="Rejected records, the newest first, in pages",
        response_model=QuarantinePage,
        responses=examples.ok(examples.QUARANTINE_PAGE)
        | problems.responses(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def list_quarantine(query: Annotated[QuarantineQuery, Query()]) -> JSONResponse:
        with sources.rejections.reading() as connection:
            items, following = page(connection, query)
            counts = connection.execute(COUNTS).fetchall()
            as_of = by_topic(reached(connection, QUARANTINE.name))
        names = ("topic", "reason", "records")
        counted = [dict(zip(names, row, strict=True)) for row in counts]
        return JSONResponse({"items": items, "next": following, "counts": counted, "as_of": as_of})

    @router.get(
        "/v1/quarantine/{topic}/{partition}/{offset}",
        operation_id="getRejected",
        summary="One rejected record, whole",
        response_model=Rejected,
        responses=examples.ok(examples.REJECTED)
        | problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def get_rejected(
        topic: Topic, partition: Number, offset: Number, _: NoParameters
    ) -> JSONResponse:
        with sources.rejections.reading() as connection:
            row = connection.execute(TABLE.select_one, (topic, partition, offset)).fetchone()
        if row is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Not in quarantine",
                f"Expected a rejected record, found none at {topic}/{partition}/{offset}. "
                "List those there are with GET /v1/quarantine.",
            )
        return JSONResponse(whole(row))

    return router


def page(
    connection: sqlite3.Connection, query: QuarantineQuery
) -> tuple[list[dict[str, Any]], str | None]:
    """One page, and the cursor of the next; None on the last page."""
    wanted = query.conditions()
    conditions, parameters = [f"{name} = ?" for name in wanted], list[Any](wanted.values())
    question = urlencode(wanted)
    if query.cursor is not None:
        kinds = tuple(TABLE.types[name] for name in NEWEST_FIRST)
        parameters += resume(query.cursor, GENERATION, question, kinds)
        conditions.append(f"({', '.join(NEWEST_FIRST)}) < (?, ?, ?, ?)")
    where = f" where {' and '.join(conditions)}" if conditions else ""
    order = ", ".join(f"{name} desc" for name in NEWEST_FIRST)
    found = connection.execute(
        f"{TABLE.select}{where} order by {order} limit ?", (*parameters, query.limit + 1)
    ).fetchall()
    shown = found[: query.limit]
    items = [{name: row[name] for name in LISTED} for row in map(TABLE.shown, shown)]
    if len(found) == len(shown):
        return items, None
    last = dict(zip(TABLE.columns, shown[-1], strict=True))
    place = tuple(last[name] for name in NEWEST_FIRST)
    return items, str(Cursor(GENERATION, question, place))


def whole(row: tuple[Any, ...]) -> dict[str, Any]:
    """All of the record, what can be read of its value, and what can be done."""
    shown = TABLE.shown(row)
    contract = JUDGED.get(shown["topic"])
    value = row[TABLE.columns.index("value")]
    if contract is None:  # a topic that is no more
        return {**shown, "fields": {}, "rest": None, "fault": None, "remedy": None}
    parts = anatomy(contract, value)
    return {
        **shown,
        "fields": {name: plain(found) for name, found in parts.fields.items()},
        "rest": parts.rest.hex(),
        "fault": parts.fault,
        "remedy": remedy(contract, shown["reason"], value).text,
    }
