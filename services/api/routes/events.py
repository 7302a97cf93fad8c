"""POST /v1/events/{topic}: publish one event, stamped with world time."""

import json
import sqlite3
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any, NoReturn

from fastapi import Path, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from contracts import CONTRACTS, Contract, Row, encode, encode_key
from contracts.documents import from_document
from contracts.faults import Fault, check_timing, find_faults
from contracts.validation import OPEN
from infra.identities import Edge
from infra.kafka import Headers, Outgoing
from services.api.http.authority import find_caller, record_refusals, refuse_other_tokens
from services.api.http.guard import read_secret
from services.api.http.limits import (
    BODIES_UNDER,
    is_to_this_machine,
    receive,
    refuse_other_sites,
)
from services.api.http.parameters import FromSources, NoParameters, Sources
from services.api.http.router import OPTIONAL_TOKEN, Router, document_responses
from services.api.problem import Invalid, Problem, Unavailable
from services.api.store.publisher import (
    DELIVERY_SECONDS_MAX,
    Full,
    OutcomeUnknown,
    Publisher,
    Refused,
    Stored,
)
from services.api.store.tables import to_document
from services.times import render_instant

JSON = "application/json"
PUBLISHED_BY = "published_by"
"""The header of a record with the id of the token that published it."""
FAULTS_LISTED_MAX = 1_000
FAULTS_SHOWN_MAX = 5

DESCRIPTION = f"""The body is one event as its contract says (`GET /v1/contracts/{{name}}`), with
timestamps in ISO 8601. The API sets the record's timestamp to world time and validates the event
against its contract at that time. It refuses an event that breaks a rule, is late or is in the
future, and names every fault of it.

The answer comes when the log holds the record, at most {DELIVERY_SECONDS_MAX:g} s later. After a
504, or no answer at all, send the event again with the same `event_id`: within the topic's horizon
an event that is there twice is applied once. `min_offset` of the answer, as a parameter of a view's
routes, waits for an answer that holds the event."""

Topic = Annotated[str, Path(description="the event's contract", max_length=200)]


router = Router(tags=["events"])


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


REQUEST_BODY = {
    "required": True,
    "content": {
        JSON: {
            "schema": {"type": "object", "description": "one event, as its contract says"},
            "examples": {
                name: {"value": to_document(contract.examples[0])}
                for name, contract in OPEN.items()
            },
        }
    },
}


@router.post(
    f"{BODIES_UNDER}{{topic}}",
    summary="Publish one event",
    description=DESCRIPTION,
    status_code=HTTPStatus.CREATED,
    openapi_extra={"requestBody": REQUEST_BODY, **OPTIONAL_TOKEN},
    responses=document_responses(
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.LENGTH_REQUIRED,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.GATEWAY_TIMEOUT,
    ),
)
async def publish_event(
    topic: Topic, request: Request, sources: FromSources, _: NoParameters
) -> PublishedEvent:
    store = sources.store
    async with record_refusals(request, sources):
        refuse_strangers(request, sources)
        contract = find_open(topic)
    body = await receive(request)
    published_ms = store.get_world_ms()
    # In a worker thread: naming every fault of the largest body takes a second.
    event = await run_in_threadpool(parse_event, contract, body, published_ms)
    event = await run_in_threadpool(pass_edge, sources.edge, event)
    stored = await _publish(store.publisher, contract, event, published_ms, sign(request))
    return PublishedEvent(
        topic=contract.name,
        partition=stored.partition,
        offset=stored.offset,
        event_id=event["event_id"],
        published_at=render_instant(published_ms),
        min_offset=f"{contract.name}/{stored.partition}/{stored.offset}",
    )


def sign(request: Request) -> Headers:
    """The header with the id of the publishing token, if there is one."""
    caller = find_caller(request)
    return () if caller is None else ((PUBLISHED_BY, caller.name.encode()),)


def refuse_strangers(request: Request, sources: Sources) -> None:
    """Raise Problem unless a page of this API or a program that may publish sent the request.

    A browser sends JSON to another site only after a preflight request, which no route answers. A
    program on another machine shows the token; in a secure shop each was asked for one already.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Unsupported media type",
            f"Expected Content-Type: {JSON}, found {kind[:80] or 'none'}. Send one event as JSON.",
        )
    refuse_other_sites(request)
    if sources.profile is None and not is_to_this_machine(request):
        refuse_other_tokens(sources.commands.read_token(), read_secret(request))


def find_open(topic: str) -> Contract:
    """The contract of a topic that clients may publish to. Raises Problem."""
    if topic in OPEN:
        return OPEN[topic]
    is_known = topic in CONTRACTS
    raise Problem(
        HTTPStatus.FORBIDDEN if is_known else HTTPStatus.NOT_FOUND,
        "Topic not for events" if is_known else "Unknown topic",
        f"Expected one of {', '.join(OPEN)}, found {topic}"
        f"{', which this project alone writes' if is_known else ''}.",
    )


def parse_event(contract: Contract, body: bytes, published_ms: int) -> Row:
    """The event in the body. Raises Problem with every fault of the event."""
    try:
        event = from_document(contract, _parse_json(body))
        wrong = (*find_faults(contract, event), *check_timing(contract, event, published_ms))
    except (ValueError, RecursionError) as error:
        raise Invalid(
            "Not JSON", f"Expected one event as a JSON object, found what does not parse: {error}."
        ) from error
    if wrong:
        raise _describe_faults(contract, wrong)
    return event  # type: ignore[no-any-return]  # an object: find_faults rejects all else


def pass_edge(edge: Edge, event: Row) -> Row:
    """The event for the log, with pseudonyms if persons get them. Raises Problem."""
    try:
        passed = edge.replace(event)
        edge.save()
    except sqlite3.DatabaseError as error:
        raise Unavailable(
            "Not published",
            f"Expected a pseudonym for whom the event names, found the lookup busy: {error}. "
            "Nothing was published; try again.",
        ) from error
    return passed


def _parse_json(body: bytes) -> Any:
    """The value of the JSON. Raises ValueError; raises RecursionError for too deep nesting.

    It refuses a repeated key: parsers differ in which value they take, so a gateway may have seen
    another value than the published one. It refuses NaN and Infinity, which JSON does not have.
    """
    return json.loads(body, object_pairs_hook=_build_object, parse_constant=_refuse_constant)


def _build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{repeated[:80]!r} is there more than once")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


async def _publish(
    publisher: Publisher, contract: Contract, event: Row, published_ms: int, headers: Headers
) -> Stored:
    """The place of the event in the log. Raises Problem."""
    key, value = encode_key(contract, event), encode(contract, event)
    record = Outgoing(contract.name, key, value, published_ms)
    try:
        return await publisher.publish(record, headers)
    except (Full, Refused) as error:
        raise Unavailable(
            "Not published",
            f"Expected Kafka to take the event, found: {error}. Nothing was published; try again.",
        ) from error
    except OutcomeUnknown as error:
        raise Problem(
            HTTPStatus.GATEWAY_TIMEOUT,
            "Outcome unknown",
            f"Expected Kafka to acknowledge the event within {DELIVERY_SECONDS_MAX:g} s, but: "
            f"{error}. It may be in the log or not. Send it again with the same event_id, "
            f"{event['event_id']}: an event that is there twice is applied once.",
            headers={"Retry-After": "1"},
        ) from error


def _describe_faults(contract: Contract, wrong: Sequence[Fault]) -> Problem:
    described = "; ".join(str(fault) for fault in wrong[:FAULTS_SHOWN_MAX])
    more = f"; and {len(wrong) - FAULTS_SHOWN_MAX} more" if len(wrong) > FAULTS_SHOWN_MAX else ""
    return Invalid(
        "Not an event of the contract",
        f"Expected an event of {contract.name}, but {described}{more}. Nothing was published. "
        f"The contract: GET /v1/contracts/{contract.name}",
        faults=[
            {"place": fault.place, "problem": fault.problem, "found": fault.found}
            for fault in wrong[:FAULTS_LISTED_MAX]
        ],
        faults_total=len(wrong),
    )
