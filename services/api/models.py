"""The shapes of the answers, for OpenAPI; what stands in a contract is taken from there.

Answers are built as plain dictionaries; these models describe them, and the tests hold the two
together.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, create_model

from contracts import (
    CONFIRMATIONS,
    NOTICE,
    PRICE_CHANGES,
    PURCHASE_ORDERS,
    QUARANTINE,
    STOCK_LEVELS,
    model,
)
from contracts.judging import span


class Parameters(BaseModel):
    """The query of a route; a parameter that is not declared is refused."""

    model_config = ConfigDict(extra="forbid")


NoParameters = Annotated[Parameters, Query()]
"""The query of a route that takes none."""


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("expected a moment of the years 1 to 9999 in UTC") from error


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment of world time, with its zone."""


class AsOf(BaseModel):
    generation: int = Field(description="the pipeline's generation that made it")
    batch: int = Field(description="the pipeline's batch that the answer ends with")
    inputs: dict[str, list[int]] = Field(
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


StockLevel = model(STOCK_LEVELS)


def _sums() -> dict[str, Any]:
    """The view's units, each summed."""
    return {
        field.name: (int, Field(description=field.description, json_schema_extra={"unit": "units"}))
        for field in STOCK_LEVELS.fields
        if field.unit == "units"
    }


Shelf: type[BaseModel] = create_model(
    "Shelf", __base__=(Dated, StockLevel), __doc__="One sku in one store."
)

Totals: type[BaseModel] = create_model(
    "Totals",
    __doc__="Sums over all stores.",
    stores=(int, Field(description="stores where the product has had a movement")),
    **_sums(),
)

StockPage: type[BaseModel] = create_model(
    "StockPage",
    __base__=Dated,
    __doc__="Some of the shelves, all at one marker.",
    items=(list[StockLevel], Field(description="the shelves of this page")),  # type: ignore[valid-type]  # made at run time
    next=(str | None, Field(description="cursor of the next page; null on the last")),
)

ProductStock: type[BaseModel] = create_model(
    "ProductStock",
    __base__=Dated,
    __doc__="One product in every store.",
    sku=(str, Field(description="the product")),
    totals=(Totals, Field(description="sums over all stores")),
    stores=(list[StockLevel], Field(description="the shelves, by store")),  # type: ignore[valid-type]  # made at run time
)


class Book(BaseModel):
    """One input partition's account: read = applied + duplicate + quarantined, in records."""

    topic: str
    partition: int
    read: int = Field(description="records read so far")
    applied: int = Field(description="records counted into the view")
    quarantined: int = Field(description="records that broke their contract")
    duplicate: int = Field(description="records whose event had been seen before")


class GenerationState(BaseModel):
    number: int
    state: str = Field(description="catching-up, ready, promoted, retired or invalid")
    loaded: bool = Field(description="whether its views could be served at once")
    reason: str | None = Field(None, description="why it is invalid")


class Pipeline(BaseModel):
    """Where a pipeline stands. What follows `generation` is there once its views are loaded."""

    pipeline: str
    promoted: int | None = Field(description="the generation that readers are to read")
    generations: list[GenerationState] = Field(description="every generation there is")
    loading: str | None = Field(None, description="how far the API is with the promoted one")
    generation: int | None = Field(None, description="the generation that the API reads")
    views: list[str] | None = Field(None, description="the views that it writes")
    lag_records: int | None = Field(None, description="input records not counted yet")
    lag_records_by_input: dict[str, int] | None = Field(None, description="the same, per topic")
    rate_per_second: float | None = Field(
        None, description="input records counted per second, over the last minute"
    )
    behind_world_seconds: float | None = Field(
        None, description="world time between the newest record counted and now; 0 without lag"
    )
    marker_written_at: str | None = Field(None, description="when the marker was written")
    books: list[Book] | None = Field(None, description="one per input partition")
    freshness_ms: int | None = Field(None, description="as in every answer")
    freshness_unknown: str | None = Field(None, description="why freshness_ms is null")
    as_of: AsOf | None = Field(None, description="what has been counted")
    trouble: str | None = Field(None, description="why the API does not follow, when it does not")


class Pipelines(BaseModel):
    pipelines: list[Pipeline]


class View(BaseModel):
    """Where a view's rows are published, for readers of the log."""

    view: str = Field(description="the contract")
    pipeline: str | None = Field(description="who writes it; null: nobody does")
    generation: int | None = Field(description="the promoted generation; null: there is none")
    topic: str | None = Field(description="the changelog of that generation")
    served: int | None = Field(
        description="the generation that this API answers from; null: none is loaded"
    )
    batch: int | None = Field(description="the pipeline's batch that it ends with")
    written_at: str | None = Field(description="when that batch's marker was written")
    rows: int | None = Field(description="how many rows it has")
    oldest_kept: str | None = Field(
        description="older rows were dropped; null: every row is kept, or there is none"
    )
    description: str = Field(description="what a row says")
    key: list[str] = Field(description="the fields of a row's key")
    retention_seconds: int | None = Field(
        description="how much older than the newest a row may be before it is dropped"
    )
    grace_seconds: int | None = Field(
        description="how long after a window's end an event may be published and be on time"
    )
    fields: list["TopicField"]
    filters: list[str] = Field(description="what GET /v1/views/{name}/rows takes")


class Views(BaseModel):
    views: list[View]


class RowPage(Dated):
    """Some of a view's rows, all at one marker."""

    view: str = Field(description="the contract, which says what the rows' fields mean")
    items: list[dict[str, Any]] = Field(
        description="the rows of this page; `final` says of a window's row that nothing can "
        "change it any more"
    )
    next: str | None = Field(description="cursor of the next page; null on the last")


class BestSeller(BaseModel):
    rank: int = Field(description="1 for what sold most")
    sku: str
    units: int = Field(description="units sold in the window")
    revenue_cents: int = Field(description="what they came to, as charged")
    units_on_time: int = Field(description="the same over what was published on time")
    revenue_cents_on_time: int = Field(description="likewise")


class BestSellers(Dated):
    """The products that sold most in one window."""

    store_id: str | None = Field(description="the store; null: all of them")
    window_start: str
    window_end: str = Field(description="the first moment that is not in it")
    final: bool = Field(description="whether nothing can change it any more")
    items: list[BestSeller] = Field(description="by units, then revenue, then sku")


class PublishedEvent(BaseModel):
    """Where the log holds an event, and when it was published."""

    topic: str
    partition: int
    offset: int = Field(description="of the record in its partition")
    event_id: str = Field(description="as it was sent; the same id again is the same event")
    published_at: str = Field(description="the record's timestamp: world time")
    min_offset: str = Field(
        description="topic, partition and offset, as the parameter of a view's routes"
    )


class WorldTime(BaseModel):
    world_time: str = Field(description="what time it is in the world")
    world_ms: int = Field(description="the same, in milliseconds of 1970, as records are stamped")
    wall_ms: int = Field(description="the wall clock at that moment, likewise")
    speed: float = Field(description="seconds of world time per second of wall time, while running")
    state: str = Field(description="running, or stopped: then world time stands")


class TopicsAsOf(BaseModel):
    inputs: dict[str, list[int]] = Field(
        description="per topic, one per partition: the offset of the first record not in it"
    )


class PriceChange(model(PRICE_CHANGES)):  # type: ignore[misc]  # made at run time
    """A price of a product, and from when on it holds."""

    published_at: str = Field(description="when it was announced: the record's timestamp")
    holds_from: str = Field(
        description="when it took over, or will: effective_at, or "
        f"{span(NOTICE)} after published_at where that is later"
    )


class HeldPrice(PriceChange):
    until: str | None = Field(
        description="when the next price announced takes over; null: none is announced"
    )


class Price(HeldPrice):
    """What a product costs at a moment."""

    at: str = Field(description="the moment, in world time")
    as_of: TopicsAsOf = Field(description="what has been read")


class PricePage(BaseModel):
    items: list[HeldPrice] = Field(description="one per product that has a price, by sku")
    next: str | None = Field(description="cursor of the next page; null on the last")
    at: str = Field(description="the moment, in world time")
    as_of: TopicsAsOf = Field(description="what has been read")


class PriceHistory(BaseModel):
    sku: str
    items: list[PriceChange] = Field(description="the last to hold first")
    next: str | None = Field(description="cursor of the next page; null on the last")
    as_of: TopicsAsOf = Field(description="what has been read")


class Order(model(PURCHASE_ORDERS)):  # type: ignore[misc]  # made at run time
    """What was ordered for a shelf, in answer to one review."""

    confirmation: model(CONFIRMATIONS) | None = Field(  # type: ignore[valid-type]  # made at run time
        description="what the supplier answered; null: nothing yet"
    )


class OrderPage(BaseModel):
    items: list[Order] = Field(description="the newest review first")
    next: str | None = Field(description="cursor of the next page; null on the last")
    as_of: TopicsAsOf = Field(description="what has been read")


class LakeAsOf(BaseModel):
    inputs: dict[str, list[int]] = Field(
        description="up to where the tables that were read hold the log: per topic, one per "
        "partition, the offset of the first record not in it"
    )


PastShelf: type[BaseModel] = create_model(
    "PastShelf",
    __base__=StockLevel,
    __doc__="One sku in one store, by all that had happened at a moment.",
    at=(str | None, Field(description="the moment, in world time; null: all there is counts")),
    as_of=(LakeAsOf, Field(description="what has been counted")),
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
        description="where the event had been rejected, if the record releases it; null: it is no "
        "release"
    )


class MovementPage(BaseModel):
    """Some of what moved a shelf."""

    store_id: str
    sku: str
    items: list[Movement] = Field(description="the first to happen first")
    next: str | None = Field(description="cursor of the next page; null on the last")
    as_of: LakeAsOf = Field(description="what has been read")


class StockOut(BaseModel):
    """A time in which a shelf had nothing to sell."""

    started_at: str = Field(description="when the units on hand fell to zero or below")
    ended_at: str | None = Field(
        description="when they were above it again; null: that has not happened"
    )
    units_on_hand_min: int = Field(
        description="the fewest there were, by the books; negative: they know of too few",
        json_schema_extra={"unit": "units"},
    )
    known_at: str = Field(
        description="when the last of the movements was published that say so; long after the "
        "others happened: it was corrected"
    )
    lost_ms: int | None = Field(
        description="how much of the time asked for it took; null where it lasts and no `until` "
        "was given",
        json_schema_extra={"unit": "milliseconds"},
    )


class StockOutPage(BaseModel):
    """Some of the times in which a shelf had nothing to sell."""

    store_id: str
    sku: str
    items: list[StockOut] = Field(description="the first to begin first")
    lost_ms: int = Field(
        description="all of them together, on this page or not; what lasts counts with `until`",
        json_schema_extra={"unit": "milliseconds"},
    )
    next: str | None = Field(description="cursor of the next page; null on the last")
    as_of: LakeAsOf = Field(description="what has been read")


class Evidence(BaseModel):
    """An event that an alert names, and the record that the lake has of it."""

    topic: str
    event_id: str
    partition: int | None = Field(description="of the record; null: the lake has none yet")
    offset: int | None = Field(description="of the record in its partition; null likewise")
    published_at: str | None = Field(description="the record's timestamp; null likewise")
    event: dict[str, Any] | None = Field(
        description="the fields that the topic's contract has; null likewise"
    )


class AlertHistory(BaseModel):
    """An alert as it is now, and the events that its evidence names."""

    alert: dict[str, Any] = Field(description="the alert, as GET /v1/alerts/{key} answers it")
    events: list[Evidence] = Field(description="in the order of the evidence")
    as_of: LakeAsOf = Field(description="what has been read")


class QuarantineCount(BaseModel):
    topic: str
    reason: str
    records: int = Field(description="records of this topic that were rejected for this reason")


def _listed() -> dict[str, Any]:
    """The fields of a rejected record, but for its bytes."""
    fields = model(QUARANTINE).model_fields.items()
    return {
        name: (info.annotation, info)
        for name, info in fields
        if name not in ("key", "value", "headers")
    }


ListedRejection: type[BaseModel] = create_model(
    "ListedRejection", __doc__="A rejected record, without its bytes.", **_listed()
)


class QuarantinePage(BaseModel):
    """Some of what was rejected, the newest first."""

    items: list[ListedRejection] = Field(description="the records of this page")
    next: str | None = Field(description="cursor of the next page; null on the last")
    counts: list[QuarantineCount] = Field(description="all there are, whatever the filters")
    as_of: dict[str, list[int]] = Field(
        description="the quarantine's topic, one per partition: the first offset not read yet"
    )


Rejected: type[BaseModel] = create_model(
    "Rejected",
    __base__=model(QUARANTINE),
    __doc__="A rejected record, whole, with what can be read of its value.",
    fields=(dict[str, Any], Field(description="the fields that can be read, in their order")),
    rest=(str | None, Field(description="the bytes after them, in hexadecimal digits")),
    fault=(str | None, Field(description="why no more can be read; null: nothing is missing")),
    remedy=(str | None, Field(description="what can be done about it")),
)


class TopicField(BaseModel):
    name: str
    type: str = Field(description="string, bytes, int, long, boolean, timestamp or array")
    unit: str | None = Field(description="what the number counts; null where it counts nothing")
    required: bool = Field(description="whether every record has it")
    description: str = Field(description="what it means")
    fields: list["TopicField"] | None = Field(None, description="of each element of an array")


class TopicRule(BaseModel):
    name: str = Field(description="what a record that breaks it is told")
    description: str | None = Field(description="why it is so")


class Topic(BaseModel):
    """One topic or view, as its contract says."""

    name: str = Field(description="the topic; a view's rows are in the topic that getView names")
    kind: str = Field(description="topic or view")
    visibility: str = Field(description="public: for every reader; private: for this project alone")
    owner: str = Field(description="who answers for it")
    description: str = Field(description="what a record says, and what it does not")
    key: list[str] = Field(description="the fields of a record's key, joined by a slash")
    event_time: str | None = Field(description="the field that says when it happened")
    horizon_seconds: int | None = Field(
        description="how long after it happened a record may be published and still count"
    )
    skew_seconds: int | None = Field(
        description="how long before it happened a record may be published, by a clock ahead"
    )
    retention_seconds: int | None = Field(
        description="how much older than the newest a view's row may be before readers drop it"
    )
    grace_seconds: int | None = Field(
        description="how long after a window's end an event may be published and be on time"
    )
    partitions: int
    config: dict[str, str] = Field(description="the topic's settings in Kafka")
    schema_id: int = Field(description="of the schema that records are written with now")
    schema_ids: list[int] = Field(description="of every schema that its records may have")
    fields: list[TopicField]
    rules: list[TopicRule] = Field(description="what every record keeps to")
    example: dict[str, Any] = Field(description="a record that keeps every rule")


class Topics(BaseModel):
    topics: list[Topic]


class Health(BaseModel):
    status: str = Field(description="ok or ready")
    missing: list[str] | None = Field(
        default=None, description="pipelines whose views are not there, and why; absent: none"
    )
