"""GET /v1/history: a shelf at a past moment, its movements and stock-outs, an alert's evidence.

It reads the lake's tables, without Spark. A view has the current state; the lake has every event
that led to it.
"""

from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, create_model

from contracts import ALERTS, STOCK_LEVELS
from contracts.times import to_epoch_ms
from contracts.validation import VALIDATED
from services.api.http.answers import TopicsAsOf, TopicsPage, date_by_offsets
from services.api.http.paging import PageRequest
from services.api.http.parameters import (
    FromLake,
    FromStore,
    Moment,
    NoParameters,
    PageQuery,
    Parameters,
    Sku,
    StoreId,
)
from services.api.http.read_your_writes import ViewParameters
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.lake.movements import TOPICS, Span, find_movements, find_stock_outs, sum_movements
from services.api.lake.tables import Lake, Record, find_records
from services.api.problem import NotFound
from services.api.routes.stock import STOCK, StockLevel
from services.api.routes.views import TABLES, Key, find_row
from services.api.store.tables import WHOLE_MIN, AnyJson, Document
from services.times import render_instant, render_instant_or_none, render_instants

MOMENTS = ("event_time", "published_at", "started_at", "ended_at", "known_at")
"""The members of the lake's rows that are times, in milliseconds since 1970."""

router = Router(tags=["history"])


class PastQuery(Parameters):
    moment: Moment | None = Field(
        None,
        alias="at",
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

    def ask(self, what: str, shelf: Span, types: tuple[type, ...]) -> PageRequest:
        """The requested page of a list about a shelf. `types`: the types in a row's place."""
        question = f"{what} of {shelf.store_id}/{shelf.sku} since {self.since} until {self.until}"
        return self.request_page(question, types)

    def build_span(self, store_id: str, sku: str) -> Span:
        """The shelf in the requested time."""
        return Span(store_id, sku, _to_ms(self.since), _to_ms(self.until))


SpanParameters = Annotated[SpanQuery, Query()]

PastShelf: type[BaseModel] = create_model(
    "PastShelf",
    __base__=StockLevel,
    __doc__="One sku in one store, by all that had happened at a moment.",
    at=(str | None, Field(description="the moment, in world time; null: all there is counts")),
    as_of=(TopicsAsOf, Field(description="what has been counted")),
)


class RecordPlace(BaseModel):
    topic: str
    partition: int
    offset: int = Field(description="of the record in its partition")


class Movement(RecordPlace):
    """An event that moved a shelf, and the record that counts."""

    event_id: str
    event_time: str = Field(description="when it happened")
    published_at: str = Field(description="the record's timestamp: world time")
    movement: str = Field(description="sold, refunded, dispatched, received or adjusted")
    units_on_hand_change: int = Field(
        description="what it added to the units on hand; negative: what it took",
        json_schema_extra={"unit": "units"},
    )
    units_in_transit_change: int = Field(
        description="likewise of the units on their way", json_schema_extra={"unit": "units"}
    )
    original: RecordPlace | None = Field(
        description="where the released event was rejected; null: the record is no release"
    )


class MovementPage(TopicsPage):
    """Some of what moved a shelf."""

    store_id: str
    sku: str
    items: list[Movement] = Field(description="the first to happen first")


class StockOut(BaseModel):
    """A time in which a shelf had nothing to sell."""

    started_at: str = Field(description="when the units on hand fell to zero or below")
    ended_at: str | None = Field(
        description="when they were above it again; null: that has not happened"
    )
    units_on_hand_min: int = Field(
        description="the fewest units on hand; negative: more was sold than the log accounts for",
        json_schema_extra={"unit": "units"},
    )
    known_at: str = Field(
        description="when the last of its movements was published; a time long after the stock-out "
        "means a correction"
    )
    lost_ms: int | None = Field(
        description="its length within the time asked for; null while it lasts and no `until` is "
        "given",
        json_schema_extra={"unit": "milliseconds"},
    )


class StockOutPage(TopicsPage):
    """Some of the times in which a shelf had nothing to sell."""

    store_id: str
    sku: str
    items: list[StockOut] = Field(description="the first to begin first")
    lost_ms: int = Field(
        description="the sum over all pages; a stock-out that still lasts counts only with `until`",
        json_schema_extra={"unit": "milliseconds"},
    )


class Evidence(BaseModel):
    """An event that an alert names, and the record that the lake has of it."""

    topic: str
    event_id: str
    partition: int | None = Field(description="of the record; null: the lake has none yet")
    offset: int | None = Field(description="of the record in its partition; null likewise")
    published_at: str | None = Field(description="the record's timestamp; null likewise")
    event: AnyJson | None = Field(
        description="the fields that the topic's contract has; null likewise"
    )


class AlertHistory(BaseModel):
    """An alert as it is now, and the events that its evidence names."""

    alert: AnyJson = Field(description="the alert, as GET /v1/alerts/{key} answers it")
    events: list[Evidence] = Field(description="in the order of the evidence")
    as_of: TopicsAsOf = Field(description="what has been read")


class Available(BaseModel):
    """Whether the past can be asked for."""

    available: bool = Field(description="whether the lake has what answers about the past need")
    reason: str | None = Field(description="why it has not, and what to do; null: it has")


@router.get("/v1/history", summary="Whether the past can be asked for", response_model=Available)
def get_history(lake: FromLake, _: NoParameters) -> JSONResponse:
    missing = lake.find_missing(*TOPICS)
    reason = None if missing is None else missing.detail
    return JSONResponse({"available": missing is None, "reason": reason})


@router.get(
    "/v1/history/stock/{store_id}/{sku}",
    summary="One shelf as it was at a moment",
    description="From the lake. The answer counts every event that happened until then, whenever "
    "it was published, as far as the lake has read the log; `as_of` says how far.",
    response_model=PastShelf,
    responses=ITEM_PROBLEMS,
)
def get_past_shelf(
    lake: FromLake, store_id: StoreId, sku: Sku, query: Annotated[PastQuery, Query()]
) -> JSONResponse:
    span = Span(store_id, sku, until_ms=_to_ms(query.moment))
    with lake.open(*TOPICS) as snapshot:
        found, as_of = sum_movements(snapshot, span), date_by_offsets(snapshot.list_ends())
    if found is None:
        when = "" if span.until_ms is None else f" by {render_instant(span.until_ms)}"
        raise NotFound(
            "Unmoved shelf",
            f"Expected a shelf that had a movement{when}, found none of {store_id}/{sku} in the "
            "lake. List the shelves there are with GET /v1/stock; as_of says how far the lake is.",
            **as_of,
        )
    columns = {"store_id": store_id, "sku": sku, **found}
    shelf = STOCK.to_json([columns[field.name] for field in STOCK_LEVELS.fields])
    return JSONResponse({**shelf, "at": render_instant_or_none(span.until_ms), **as_of})


@router.get(
    "/v1/history/movements/{store_id}/{sku}",
    summary="What moved a shelf, event by event, in pages",
    description="From the lake. The changes of all movements until a moment add up to the "
    "shelf at that moment. Later pages may hold events that were published meanwhile.",
    response_model=MovementPage,
)
def list_movements(
    lake: FromLake, store_id: StoreId, sku: Sku, query: SpanParameters
) -> JSONResponse:
    span = query.build_span(store_id, sku)
    request = query.ask("movements", span, (int, str, int, int))
    after = request.find_place()
    with lake.open(*TOPICS) as snapshot:
        rows = find_movements(snapshot, span, after, request.rows_max)
        as_of = date_by_offsets(snapshot.list_ends())
    page = request.build(
        rows, lambda row: (row["event_time"], row["topic"], row["partition"], row["offset"])
    )
    items = [_render_movement(row) for row in page.items]
    shelf = {"store_id": store_id, "sku": sku}
    return JSONResponse({**shelf, "items": items, "next": page.next, **as_of})


@router.get(
    "/v1/history/stock-outs/{store_id}/{sku}",
    summary="When a shelf had nothing to sell, and for how long, in pages",
    description="From the lake. A shelf is out of stock from the moment when its units on hand "
    "fall to zero or below until they rise above zero. The answer lists the stock-outs that lasted "
    "after `since`, by the events until `until`. Lost time counts between the two.",
    response_model=StockOutPage,
)
def list_stock_outs(
    lake: FromLake, store_id: StoreId, sku: Sku, query: SpanParameters
) -> JSONResponse:
    span = query.build_span(store_id, sku)
    request = query.ask("stock-outs", span, (int,))
    [after_ms] = request.find_place() or (WHOLE_MIN,)
    with lake.open(*TOPICS) as snapshot:
        rows = find_stock_outs(snapshot, span, int(after_ms), request.rows_max)
        as_of = date_by_offsets(snapshot.list_ends())
    page = request.build(rows, lambda row: (row["started_at"],))
    rendered = (render_instants(row, MOMENTS) for row in page.items)
    items = [{name: row[name] for name in StockOut.model_fields} for row in rendered]
    lost_ms = rows[0]["lost_ms_in_all"] if rows else 0
    shelf = {"store_id": store_id, "sku": sku}
    return JSONResponse({**shelf, "items": items, "lost_ms": lost_ms, "next": page.next, **as_of})


@router.get(
    "/v1/history/alerts/{key:path}",
    summary="An alert, and the events that it rests on, by rule/subject/interval_start",
    description="The alert comes from the view, the events come from the lake: those that the "
    "evidence names, 20 at the most.",
    response_model=AlertHistory,
    responses=ITEM_PROBLEMS,
)
async def get_alert_history(
    store: FromStore, lake: FromLake, key: Key, query: ViewParameters
) -> JSONResponse:
    alert = await find_row(store, TABLES[ALERTS.name], key, query)
    return await run_in_threadpool(_answer_evidence, lake, alert)


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else to_epoch_ms(moment)


def _render_movement(row: Record) -> Document:
    """A movement; `original` is the place of the rejected event that it releases."""
    movement = render_instants(row, MOMENTS)
    original = {name: movement.pop(f"original_{name}") for name in ("topic", "partition", "offset")}
    return {**movement, "original": None if original["topic"] is None else original}


def _answer_evidence(lake: Lake, alert: Document) -> JSONResponse:
    """The alert, and the records of each event that it names, one per partition with a copy.

    An event has no place if the lake has none yet.
    """
    named = cast(list[dict[str, Any]], alert["evidence"])
    topics = [VALIDATED[name] for name in sorted({each["topic"] for each in named})]
    with lake.open(*topics) as snapshot:
        records = [record for topic in topics for record in find_records(snapshot, topic, named)]
        as_of = date_by_offsets(snapshot.list_ends())
    absent = dict.fromkeys(("partition", "offset", "published_at", "event"))
    events: list[Document] = []
    for each in named:
        event = {"topic": each["topic"], "event_id": each["event_id"]}
        matching = [
            render_instants(record, MOMENTS)
            for record in records
            if event.items() <= record.items()
        ]
        events += matching or [{**event, **absent}]
    return JSONResponse({"alert": alert, "events": events, **as_of})
