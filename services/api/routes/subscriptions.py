"""Subscriptions: who is sent which changes of a view, from which marker on, and how far it is.

The API writes what is asked for into the log. `services/subscriptions` finds and sends changes.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from contracts.consumer import get_consumer
from ops.generations.marker import Marker
from ops.generations.record import Generation
from services.api.http.authority import Authorized
from services.api.http.parameters import NoParameters, Parameters
from services.api.http.problems import (
    ITEM_PROBLEMS,
    LIST_PROBLEMS,
    Invalid,
    NotFound,
    Problem,
    document_responses,
)
from services.api.http.router import Router
from services.api.http.sources import FromSources, FromStore, Sources
from services.api.routes.views import find_promoted, find_table
from services.api.store.store import Store
from services.clock import get_wall_ms
from services.subscriptions.addresses import ADDRESS_CHARACTERS_MAX, Refused, parse_address
from services.subscriptions.conditions import CONDITIONS_MAX, BadFilter, parse_filter
from services.subscriptions.records import (
    SUBSCRIPTIONS_MAX,
    Progress,
    Subscription,
    select_places,
)
from services.subscriptions.signature import derive_secret
from services.times import render_instant_or_none

ID_BYTES = 8
FOLLOWED = get_consumer("subscriptions").reads
"""The views among them can be subscribed to."""

router = Router(tags=["subscriptions"])

Id = Annotated[
    str, Path(alias="subscription_id", pattern="^[0-9a-f]{16}$", description="the subscription")
]


class SubscribeQuery(Parameters):
    view: str = Field(max_length=249, description="whose rows it follows, as in GET /v1/views")
    address: str = Field(
        max_length=ADDRESS_CHARACTERS_MAX,
        description="where changes are sent to, of a host that SUBSCRIPTION_HOSTS names",
    )
    filters: list[str] = Field(
        [],
        alias="filter",
        max_length=CONDITIONS_MAX,
        description="a condition such as units_on_hand<=5 or status!=closed; of several, a row "
        "fulfils all to match. Without one a row matches as long as it is there",
    )
    start: Literal["now", "beginning"] = Field(
        "now",
        alias="from",
        description="now: changes after the newest marker; beginning: also the rows that match "
        "there",
    )


class ResumeQuery(Parameters):
    skip: bool = Field(False, description="give up the notification that was tried last")


class SubscriptionAnswer(BaseModel):
    """A subscription, and how far it has come."""

    subscription_id: str
    view: str
    filters: list[str] = Field(description="the conditions that a row fulfils to match")
    receiver: str = Field(description="scheme, host and port of the address; the rest is not shown")
    generation: int = Field(description="the generation of the marker that it starts from")
    batch: int = Field(description="the batch of that marker")
    from_beginning: bool = Field(description="whether rows that match there are sent, too")
    created_at: str
    created_by: str
    state: str = Field(description="active; or parked, until it is resumed")
    lag_records: int | None = Field(
        description="records of the changelog, up to the newest marker, that were not looked at; "
        "null: no generation of the view is promoted"
    )
    waiting: int = Field(description="notifications that wait for their receiver")
    waiting_since: str | None = Field(description="when the one that is tried was found")
    delivered: int = Field(description="notifications that the receiver took")
    attempts: int = Field(description="how often the one that is tried failed")
    error: str | None = Field(description="why the last attempt failed")
    retry_at: str | None = Field(description="when it is tried again")


class CreatedSubscription(SubscriptionAnswer):
    secret: str = Field(description="verifies the signatures; it is shown this once")


class SubscriptionList(BaseModel):
    subscriptions: list[SubscriptionAnswer] = Field(description="the oldest first")


CHANGED = document_responses(
    HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE
)


@router.post(
    "/v1/subscriptions",
    summary="Be sent each change of a row that begins or ceases to match",
    description="Each change is a CloudEvent in JSON, signed as Standard Webhooks says, at least "
    "once, in order by key. A receiver that does not take it is asked again, with growing pauses; "
    "after forty attempts the subscription is parked.",
    status_code=HTTPStatus.CREATED,
    response_model=CreatedSubscription,
    responses=CHANGED,
)
async def create_subscription(
    actions: Authorized, sources: FromSources, query: Annotated[SubscribeQuery, Query()]
) -> JSONResponse:
    store = sources.store
    _check_filter(query.view, query.filters)
    await run_in_threadpool(_check_address, sources, query.address)
    generation, marker = _find_newest(store, query.view)
    if generation is None or marker is None:
        raise store.create_missing(query.view)
    identity = secrets.token_hex(ID_BYTES)
    subscription = Subscription(
        subscription_id=identity,
        view=query.view,
        filters=tuple(query.filters),
        address=query.address,
        generation=generation.number,
        batch=marker.batch,
        offsets=select_places(marker.outputs, generation.outputs[query.view]),
        from_beginning=query.start == "beginning",
        created_at=get_wall_ms(),
        created_by=actions.caller.name,
    )
    async with store.subscriptions.changing:
        if len(store.subscriptions.list_all()) >= SUBSCRIPTIONS_MAX:
            raise Problem(
                HTTPStatus.CONFLICT,
                "Too many subscriptions",
                f"Expected at most {SUBSCRIPTIONS_MAX} subscriptions, found as many. End one "
                "first.",
            )
        async with actions.record(f"{identity} of {query.view}"):
            await store.subscriptions.put(subscription)
    described = describe(store, subscription, Progress(subscription_id=identity)).model_dump()
    secret = derive_secret(sources.read_hook_key(), identity)
    return JSONResponse({**described, "secret": secret}, HTTPStatus.CREATED)


@router.get(
    "/v1/subscriptions",
    summary="Every subscription, and how far it is behind",
    response_model=SubscriptionList,
    responses=LIST_PROBLEMS,
)
def list_subscriptions(store: FromStore, _: NoParameters) -> JSONResponse:
    every = [describe(store, *one).model_dump() for one in store.subscriptions.list_all()]
    return JSONResponse({"subscriptions": every})


@router.get(
    "/v1/subscriptions/{subscription_id}",
    summary="One subscription, and how far it is behind",
    response_model=SubscriptionAnswer,
    responses=ITEM_PROBLEMS,
)
def get_subscription(store: FromStore, identity: Id, _: NoParameters) -> JSONResponse:
    return JSONResponse(describe(store, *_find(store, identity)).model_dump())


@router.delete(
    "/v1/subscriptions/{subscription_id}",
    summary="End a subscription; what waits is not sent",
    status_code=HTTPStatus.NO_CONTENT,
    responses=ITEM_PROBLEMS,
)
async def end_subscription(
    actions: Authorized, store: FromStore, identity: Id, _: NoParameters
) -> Response:
    _find(store, identity)
    async with actions.record(identity):
        await store.subscriptions.remove(identity)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.post(
    "/v1/subscriptions/{subscription_id}/resume",
    summary="Send again at once, also what is parked",
    response_model=SubscriptionAnswer,
    responses=CHANGED,
)
async def resume_subscription(
    actions: Authorized, store: FromStore, identity: Id, query: Annotated[ResumeQuery, Query()]
) -> JSONResponse:
    subscription, progress = _find(store, identity)
    if query.skip and progress.head is None:
        raise Problem(
            HTTPStatus.CONFLICT,
            "Nothing to skip",
            "Expected a notification that was tried in vain, found none. Resume without skip.",
        )
    resumed = replace(
        subscription,
        resumed_at=get_wall_ms(),
        skipped=progress.head if query.skip else subscription.skipped,
    )
    async with actions.record(identity):
        await store.subscriptions.put(resumed)
    return JSONResponse(describe(store, resumed, progress).model_dump())


def describe(store: Store, subscription: Subscription, progress: Progress) -> SubscriptionAnswer:
    known = asdict(progress) | asdict(subscription)
    shown = {name: known[name] for name in SubscriptionAnswer.model_fields.keys() & known.keys()}
    times = {
        name: render_instant_or_none(known[name])
        for name in ("created_at", "waiting_since", "retry_at")
    }
    return SubscriptionAnswer(
        **{**shown, **times},
        receiver=parse_address(subscription.address).origin,
        lag_records=measure_lag(store, subscription, progress),
    )


def measure_lag(store: Store, subscription: Subscription, progress: Progress) -> int | None:
    """The records up to the newest marker that were not looked at; of another generation, all."""
    generation, marker = _find_newest(store, subscription.view)
    if generation is None or marker is None:
        return None
    ends = select_places(marker.outputs, generation.outputs[subscription.view])
    reached: Mapping[int, int] = {}
    if progress.generation == generation.number:
        reached = progress.offsets
    if not progress.generation and not subscription.from_beginning:
        reached = subscription.offsets
    return sum(max(0, end - reached.get(partition, 0)) for partition, end in ends.items())


def _find_newest(store: Store, view: str) -> tuple[Generation | None, Marker | None]:
    """The promoted generation of the view, and its newest marker."""
    generation = find_promoted(store, view)
    if generation is None:
        return None, None
    return generation, store.control.markers.get((generation.pipeline, generation.number))


def _find(store: Store, subscription_id: str) -> tuple[Subscription, Progress]:
    """Raises Problem, and MirrorLoading."""
    for subscription, progress in store.subscriptions.list_all():
        if subscription.subscription_id == subscription_id:
            return subscription, progress
    raise NotFound(
        "Unknown subscription",
        f"Expected one of those in GET /v1/subscriptions, found {subscription_id}.",
    )


def _check_filter(view: str, filters: Sequence[str]) -> None:
    table = find_table(view)
    if view not in FOLLOWED:
        followed = ", ".join(sorted(name for name in FOLLOWED if name.startswith("public.")))
        raise NotFound(
            "View without subscriptions",
            f"Expected one of {followed}, found {view}. A view can be subscribed to when "
            "contracts/consumers/subscriptions.yaml reads it.",
        )
    try:
        parse_filter(table.contract, filters)
    except BadFilter as error:
        raise Invalid(
            "Invalid filter",
            f"filter: {error}. GET /v1/topics/{view} lists the fields.",
        ) from error


def _check_address(sources: Sources, address: str) -> None:
    try:
        sources.allowed.find_ip(sources.allowed.parse(address))
    except (Refused, OSError) as error:
        raise Invalid(
            "Address refused",
            f"address: {error}. docs/security.md says where web hooks may go.",
        ) from error
