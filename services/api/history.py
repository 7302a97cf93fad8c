"""GET /v1/history: a shelf at a past moment, what moved it, and what an alert rests on.

From the lake's tables, without Spark; a view knows how things are, these know how they came to be.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

import pyarrow.dataset as pads
from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import ALERTS, STOCK_LEVELS, Contract
from contracts.judging import EPOCH, JUDGED
from services.api import examples, problems
from services.api.cursors import NO_GENERATION, paged, resume
from services.api.lake import Reading, moment
from services.api.marker import epoch_ms
from services.api.models import AlertHistory, Moment, MovementPage, Parameters, PastShelf
from services.api.movements import TOPICS, Span, movements, shelf
from services.api.prices import PageQuery
from services.api.problems import Problem
from services.api.reaching import ViewQuery
from services.api.rows import Key, one
from services.api.sources import Sources
from services.api.stock import STOCK, Sku, StoreId
from services.api.tables import in_ms, instant, instant_or_none, plain
from services.api.views import TABLES

PLACES = ("topic", "partition", "offset")
RECORD = ("partition", "offset", "published_at", "event")
TOLD = ("event_id", "movement", "units_on_hand_change", "units_in_transit_change")


class PastQuery(Parameters):
    at: Moment | None = Field(
        None,
        description="the moment, as 2026-03-02T10:00:00Z: what had happened by then counts; "
        "everything if left out",
    )


class SpanQuery(PageQuery):
    since: Moment | None = Field(None, description="what happened after this moment")
    until: Moment | None = Field(
        None,
        description="what happened up to this moment: a shelf at `since` and its movements make it "
        "the shelf at `until`",
    )

    def question(self, what: str, store_id: str, sku: str) -> str:
        """What has to stay the same from page to page."""
        return f"{what} of {store_id}/{sku} since {self.since} until {self.until}"


UNAVAILABLE = problems.responses(HTTPStatus.SERVICE_UNAVAILABLE)


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["history"])
    unknown = problems.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)

    @router.get(
        "/v1/history/stock/{store_id}/{sku}",
        operation_id="getPastShelf",
        summary="One shelf as it was at a moment",
        description="From the lake. Counted is what had happened by then, whenever it was "
        "published and as far as the lake has come: `as_of` says how far.",
        response_model=PastShelf,
        responses=examples.ok(examples.PAST_SHELF) | unknown,
    )
    def get_past_shelf(
        store_id: StoreId, sku: Sku, query: Annotated[PastQuery, Query()]
    ) -> JSONResponse:
        span = Span(store_id, sku, until_ms=moment_ms(query.at))
        with sources.lake.reading(*TOPICS) as reading:
            found, as_of = shelf(reading, span), reading.as_of()
        if found is None:
            raise _unmoved(span, as_of)
        key = {"store_id": store_id, "sku": sku}
        row = [{**key, **found}[field.name] for field in STOCK_LEVELS.fields]
        return JSONResponse({**STOCK.shown(row), "at": instant_or_none(span.until_ms), **as_of})

    @router.get(
        "/v1/history/movements/{store_id}/{sku}",
        operation_id="listMovements",
        summary="What moved a shelf, event by event, in pages",
        description="From the lake. The changes of all movements until a moment add up to the "
        "shelf at that moment. Later pages may hold what was published meanwhile.",
        response_model=MovementPage,
        responses=examples.ok(examples.MOVEMENT_PAGE) | UNAVAILABLE,
    )
    def list_movements(
        store_id: StoreId, sku: Sku, query: Annotated[SpanQuery, Query()]
    ) -> JSONResponse:
        question = query.question("movements", store_id, sku)
        after = (
            None
            if query.cursor is None
            else resume(query.cursor, NO_GENERATION, question, (int, str, int, int))
        )
        span = Span(store_id, sku, moment_ms(query.since), moment_ms(query.until))
        with sources.lake.reading(*TOPICS) as reading:
            found, as_of = movements(reading, span, after, query.limit + 1), reading.as_of()
        shown, following = paged(found, query.limit, question, ("event_time", *PLACES))
        items = [_movement(row) for row in shown]
        key = {"store_id": store_id, "sku": sku}
        return JSONResponse({**key, "items": items, "next": following, **as_of})

    @router.get(
        "/v1/history/alerts/{key:path}",
        operation_id="getAlertHistory",
        summary="An alert, and the events that it rests on, by rule/subject/interval_start",
        description="The alert is the view's, the events are the lake's: those that the evidence "
        "names, 20 at the most.",
        response_model=AlertHistory,
        responses=examples.ok(examples.ALERT_HISTORY) | unknown,
    )
    async def get_alert_history(key: Key, query: Annotated[ViewQuery, Query()]) -> JSONResponse:
        alert = await one(sources, TABLES[ALERTS.name], key, query)
        return JSONResponse(await run_in_threadpool(_behind, sources, alert))

    return router


def _movement(row: Mapping[str, Any]) -> dict[str, Any]:
    original = {name: row[f"original_{name}"] for name in PLACES}
    return {
        **{name: row[name] for name in (*PLACES, *TOLD)},
        "event_time": instant(row["event_time"]),
        "published_at": instant(row["published_at"]),
        "original": original if original["topic"] else None,
    }


def _behind(sources: Sources, alert: Mapping[str, Any]) -> dict[str, Any]:
    """The alert, and of each event that it names the record that counts.

    One for each partition that has a copy.
    """
    named: list[Mapping[str, Any]] = alert["evidence"]
    topics = [JUDGED[name] for name in sorted({each["topic"] for each in named})]
    with sources.lake.reading(*topics) as reading:
        records = [row for topic in topics for row in _records(reading, topic, named)]
        as_of = reading.as_of()
    events = [row for each in named for row in _evidence(each, records)]
    return {"alert": alert, "events": events, **as_of}


def _records(
    reading: Reading, topic: Contract, named: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What the topic's table has of these events. Their times say in which files to look."""
    wanted = [each for each in named if each["topic"] == topic.name]
    times = [epoch_ms(datetime.fromisoformat(each["event_time"])) for each in wanted]
    happened, identity = pads.field("event_time"), pads.field("event_id")
    within = (happened >= moment(min(times))) & (happened <= moment(max(times)))
    table = reading.tables[topic]
    among = identity.isin([each["event_id"] for each in wanted])
    reading.name("named", table.rows(table.dataset.schema.names, within & among))
    return [
        {
            "topic": topic.name,
            "event_id": row["event_id"],
            "partition": row["_partition"],
            "offset": row["_offset"],
            "published_at": instant(epoch_ms(row["_published"])),
            "event": plain({field.name: row[field.name] for field in topic.fields}),
        }
        for row in reading.ask("from named order by _partition")
    ]


def _evidence(
    named: Mapping[str, Any], records: Sequence[dict[str, Any]]
) -> Sequence[dict[str, Any]]:
    """The records of an event; one that says nothing where the lake has none yet."""
    identity = {name: named[name] for name in ("topic", "event_id")}
    found = [each for each in records if identity.items() <= each.items()]
    return found or [{**identity, **dict.fromkeys(RECORD)}]


def moment_ms(at: datetime | None) -> int | None:
    """A moment in milliseconds of 1970."""
    return None if at is None else in_ms(at - EPOCH)


def _unmoved(span: Span, as_of: Mapping[str, Any]) -> Problem:
    when = "" if span.until_ms is None else f" by {instant(span.until_ms)}"
    return Problem(
        HTTPStatus.NOT_FOUND,
        "Unmoved shelf",
        f"Expected a shelf that had a movement{when}, found none of {span.store_id}/{span.sku} in "
        "the lake. List the shelves there are with GET /v1/stock; as_of says how far the lake is.",
        **as_of,
    )
