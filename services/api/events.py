"""POST /v1/events/{topic}: publish one event, stamped with world time."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from contracts import CONTRACTS, Contract, encode, key
from contracts.documents import from_document
from contracts.faults import Fault, faults, ill_timed
from contracts.judging import OPEN
from infra.settings import HOST
from services.api import examples, problems, topics
from services.api.limits import BODIES_UNDER
from services.api.models import NoParameters, PublishedEvent
from services.api.problems import Problem
from services.api.publishing import (
    DELIVERY_SECONDS_MAX,
    Full,
    OutcomeUnknown,
    Publishing,
    Record,
    Refused,
)
from services.api.sources import Sources
from services.api.tables import instant
from services.api.times import world_ms

OWN_HOSTS = (HOST, "localhost")
BODY_SECONDS_MAX = 10.0
FAULTS_LISTED_MAX = 1_000
FAULTS_TOLD_MAX = 5

DESCRIPTION = f"""The body is one event as its contract says (`GET /v1/topics/{{name}}`), timestamps
in ISO 8601. The record is stamped with world time, and the event is held against its contract at
that time: a broken rule, a late or a future event is refused with all that is wrong with it.

The answer comes when the log holds the record, at most {DELIVERY_SECONDS_MAX:g} s later. After a
504, or no answer at all, send the event again with the same `event_id`: within the topic's horizon
an event that is there twice is applied once. `min_offset` of the answer, as a parameter of a view's
routes, waits for an answer that holds the event."""

Topic = Annotated[str, Path(description="the event's contract", max_length=200)]


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(tags=["events"])

    @router.post(
        f"{BODIES_UNDER}{{topic}}",
        operation_id="publishEvent",
        summary="Publish one event",
        description=DESCRIPTION,
        status_code=HTTPStatus.CREATED,
        response_model=PublishedEvent,
        openapi_extra={"requestBody": _body()},
        responses=examples.created(examples.PUBLISHED)
        | problems.responses(
            HTTPStatus.FORBIDDEN,
            HTTPStatus.NOT_FOUND,
            HTTPStatus.REQUEST_TIMEOUT,
            HTTPStatus.LENGTH_REQUIRED,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            HTTPStatus.SERVICE_UNAVAILABLE,
            HTTPStatus.GATEWAY_TIMEOUT,
        ),
    )
    async def publish_event(topic: Topic, request: Request, _: NoParameters) -> JSONResponse:
        refuse_elsewhere(request)
        contract = known(topic)
        body = await received(request)
        published_ms = world_ms(sources)
        # Not here: to name every fault of the largest body takes a second.
        event = await run_in_threadpool(judged, contract, body, published_ms)
        return await _published(sources.publishing, contract, event, published_ms)

    return router


def refuse_elsewhere(request: Request) -> None:
    """Only programs on this machine, and this API's own pages, may publish.

    A browser sends JSON to another site only after asking it, and nothing here answers that
    question; but a name that was made to point here would be no other site to it.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != examples.JSON:
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Unsupported media type",
            f"Expected Content-Type: {examples.JSON}, found {kind[:80] or 'none'}. "
            "Send one event as JSON.",
        )
    host = request.headers.get("host", "")
    origin = request.headers.get("origin", f"http://{host}")
    name = host.rpartition(":")[0] or host
    if name not in OWN_HOSTS or origin != f"http://{host}":
        raise Problem(
            HTTPStatus.FORBIDDEN,
            "Request from elsewhere",
            f"Expected a request to {' or '.join(OWN_HOSTS)}, from no other page than this API's "
            f"own, found host {host[:80]}, origin {origin[:80]}. Publish from a program.",
        )


def known(topic: str) -> Contract:
    """The contract of a topic that may be published to; raises Problem."""
    if topic in OPEN:
        return OPEN[topic]
    there = topic in CONTRACTS
    raise Problem(
        HTTPStatus.FORBIDDEN if there else HTTPStatus.NOT_FOUND,
        "Topic not for events" if there else "Unknown topic",
        f"Expected one of {', '.join(OPEN)}, found {topic}"
        f"{', which this project alone writes' if there else ''}.",
    )


async def received(request: Request) -> bytes:
    """The whole body; raises Problem."""
    try:
        with anyio.fail_after(BODY_SECONDS_MAX):
            return await request.body()
    except (TimeoutError, ClientDisconnect) as error:
        raise Problem(
            HTTPStatus.REQUEST_TIMEOUT,
            "Body not received",
            f"Expected the whole body within {BODY_SECONDS_MAX:g} s, found less. Send it again.",
            headers={"Connection": "close"},
        ) from error


def judged(contract: Contract, body: bytes, published_ms: int) -> dict[str, Any]:
    """The event in the body, if all is well with it; raises Problem with everything that is not."""
    try:
        event = from_document(contract, json.loads(body))
    except (ValueError, RecursionError) as error:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "Not JSON",
            f"Expected one event as a JSON object, found what does not parse: {error}.",
        ) from error
    wrong = (*faults(contract, event), *ill_timed(contract, event, published_ms))
    if wrong:
        raise _not_the_contracts(contract, wrong)
    return event  # type: ignore[no-any-return]  # an object, or it had been refused


async def _published(
    publishing: Publishing, contract: Contract, event: dict[str, Any], published_ms: int
) -> JSONResponse:
    record = Record(contract.name, key(contract, event), encode(contract, event), published_ms)
    try:
        stored = await publishing.publish(record)
    except Full as error:
        raise _not_taken("as many events on their way as the API takes at once") from error
    except Refused as error:
        raise _not_taken(f"Kafka refused it: {error}") from error
    except OutcomeUnknown as error:
        raise _unknown(event["event_id"], error) from error
    answer = {
        "topic": contract.name,
        "partition": stored.partition,
        "offset": stored.offset,
        "event_id": event["event_id"],
        "published_at": instant(published_ms),
        "min_offset": f"{contract.name}/{stored.partition}/{stored.offset}",
    }
    return JSONResponse(answer, HTTPStatus.CREATED)


def _not_the_contracts(contract: Contract, wrong: Sequence[Fault]) -> Problem:
    told = "; ".join(str(fault) for fault in wrong[:FAULTS_TOLD_MAX])
    more = f"; and {len(wrong) - FAULTS_TOLD_MAX} more" if len(wrong) > FAULTS_TOLD_MAX else ""
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Not an event of the contract",
        f"Expected an event of {contract.name}, but {told}{more}. Nothing was published. "
        f"The contract: GET /v1/topics/{contract.name}",
        faults=[
            {"place": fault.place, "problem": fault.problem, "found": fault.found}
            for fault in wrong[:FAULTS_LISTED_MAX]
        ],
        faults_total=len(wrong),
    )


def _not_taken(why: str) -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Not published",
        f"Expected Kafka to take the event, found {why}. Nothing was published; try again.",
        headers={"Retry-After": "1"},
    )


def _unknown(event_id: str, error: OutcomeUnknown) -> Problem:
    return Problem(
        HTTPStatus.GATEWAY_TIMEOUT,
        "Outcome unknown",
        f"Expected Kafka to acknowledge the event within {DELIVERY_SECONDS_MAX:g} s, but: {error}. "
        f"It may be in the log or not. Send it again with the same event_id, {event_id}: an event "
        "that is there twice is applied once.",
        headers={"Retry-After": "1"},
    )


def _body() -> dict[str, Any]:
    return {
        "required": True,
        "content": {
            examples.JSON: {
                "schema": {"type": "object", "description": "one event, as its contract says"},
                "examples": {
                    name: {"value": topics.described(one)["example"]} for name, one in OPEN.items()
                },
            }
        },
    }
