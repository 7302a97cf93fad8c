"""Every parameter of the API goes up to its limit, and no further."""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer
from starlette.types import Message, Receive, Scope, Send

from infra.kafka import Outgoing
from services.api.http.limits import REQUESTS_AT_ONCE_MAX, Limits
from services.api.store.publisher import AT_ONCE_MAX, Full, Publisher
from tests.services.serving import NO_BROKER, OPENAPI, Answers


class Parameter(NamedTuple):
    path: str
    name: str
    schema: dict[str, Any]


def list_limited() -> Iterator[Parameter]:
    """The parameters of queries that have a limit."""
    for path, operations in OPENAPI["paths"].items():
        if "{" in path:
            continue
        for parameter in operations.get("get", {}).get("parameters", ()):
            for schema in parameter["schema"].get("anyOf", [parameter["schema"]]):
                if parameter["in"] == "query" and schema.keys() & SIZES.keys():
                    yield Parameter(path, parameter["name"], schema)


def vary_value(schema: dict[str, Any]) -> Iterator[tuple[list[str], bool]]:
    """What the parameter is given, as often as it is given; and whether that is allowed."""
    for word, limit in schema.items():
        if word in SIZES:
            inside, outside = (1, -1) if word == "minimum" else (-1, 1)
            for size, fits in ((limit, True), (limit + inside, True), (limit + outside, False)):
                yield SIZES[word](size), fits
            yield SIZES[word](limit + outside * 10 * limit), False


BEYOND = ("at most", "less than or equal", "greater than or equal")
SIZES: dict[str, Any] = {
    "minimum": lambda size: [str(size)],
    "maximum": lambda size: [str(size)],
    "maxLength": lambda size: ["x" * size],
    "maxItems": lambda size: [f"public.sales.receipt.v1/0/{number}" for number in range(size)],
}


@pytest.mark.parametrize(
    "parameter", list_limited(), ids=lambda parameter: f"{parameter.path}?{parameter.name}"
)
def test_a_parameter_goes_to_its_limit_and_no_further(quiet: Answers, parameter: Parameter) -> None:
    for given, fits in vary_value(parameter.schema):
        query = "&".join(f"{parameter.name}={each}" for each in given)
        answer = quiet.request("GET", f"{parameter.path}?{query}")
        detail = answer.json()["detail"] if answer.is_error else ""
        refused = answer.status_code in (
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.REQUEST_URI_TOO_LONG,
        ) and any(words in detail for words in BEYOND)
        assert refused != fits, (query[:100], answer.status_code, detail)


def test_so_many_requests_are_answered_at_once_and_no_more() -> None:
    asyncio.run(_ask_at_once())


async def _ask_at_once() -> None:
    go_on, statuses = asyncio.Event(), list[int]()

    async def answer_slowly(_: Scope, __: Receive, send: Send) -> None:
        await go_on.wait()
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": []})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    target = {"method": "GET", "path": "/", "raw_path": b"/", "query_string": b""}
    scope = {"type": "http", **target, "headers": [(b"host", b"localhost")]}
    limits = Limits(answer_slowly, ["localhost"])
    asked = [
        asyncio.create_task(limits(scope, receive, send)) for _ in range(10 * REQUESTS_AT_ONCE_MAX)
    ]
    await asyncio.sleep(0)
    assert statuses == [HTTPStatus.SERVICE_UNAVAILABLE] * 9 * REQUESTS_AT_ONCE_MAX
    go_on.set()
    await asyncio.gather(*asked)
    assert statuses.count(HTTPStatus.OK) == REQUESTS_AT_ONCE_MAX
    await limits(scope, receive, send)
    assert statuses[-1] == HTTPStatus.OK


def test_so_many_events_are_on_their_way_and_no_more() -> None:
    asyncio.run(_publish_at_once())


async def _publish_at_once() -> None:
    publisher = Publisher(lambda: Producer(NO_BROKER))
    record = Outgoing("public.sales.receipt.v1", b"S001", b"", 0)
    publisher.start()
    try:
        answers = await asyncio.gather(
            *(publisher.publish(record) for _ in range(10 * AT_ONCE_MAX)), return_exceptions=True
        )
    finally:
        publisher.stop()
    assert sum(isinstance(answer, Full) for answer in answers) == 9 * AT_ONCE_MAX
