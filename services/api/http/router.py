"""The router of the routes about one noun, the errors that they document, and their traffic."""

from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import Any

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.api.problem import Problem
from services.api.store.tables import AnyJson

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
NO_OPERATION = "none"
"""Of a file of the pages, a path that no route has, and a request refused before routing."""


class ProblemDocument(BaseModel):
    """What went wrong, for a program (type, status) and for a person (title, detail)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="names the kind of problem; stable, to be matched by programs")
    title: str = Field(description="the kind of problem, in words")
    status: int = Field(description="the HTTP status of this answer")
    detail: str = Field(description="what was expected, what was found, what to do")
    instance: str = Field(description="the path that was asked for")


Responses = dict[int | str, AnyJson]
"""Answers of a route by status, as FastAPI documents them."""

ALWAYS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""The error answers of any route. With SECURE=on it refuses a missing or insufficient token; it may
be too busy, or not have loaded yet what it answers from."""


def document_responses(*statuses: HTTPStatus) -> Responses:
    """The error answers of a route beside ALWAYS, for its OpenAPI."""
    content = {
        Problem.media_type: {"schema": {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}}
    }
    return {int(status): {"description": status.phrase, "content": content} for status in statuses}


ITEM_PROBLEMS = document_responses(HTTPStatus.NOT_FOUND)
"""The error answers of a route to one thing, which may be unknown."""


BEARER, BASIC = "HTTPBearer", "HTTPBasic"
"""The names of the schemes."""
BASIC_SCHEME = {
    "type": "http",
    "scheme": "basic",
    "description": "With SECURE=on, to read in a browser: any name, and a token as the password.",
}
OPTIONAL_TOKEN: AnyJson = {"security": [{}, {BEARER: []}]}
"""The security of a route that writes. A program on this machine needs a token with SECURE=on."""


def add_problems(openapi: Callable[[], AnyJson]) -> Callable[[], AnyJson]:
    """A function with the same document, plus the schema of a problem and the security schemes."""

    def document() -> AnyJson:
        made = openapi()
        name = ProblemDocument.__name__
        made["components"]["schemas"].setdefault(name, ProblemDocument.model_json_schema())
        made["components"].setdefault("securitySchemes", {})[BASIC] = BASIC_SCHEME
        made["security"] = [{}, {BEARER: []}, {BASIC: []}]
        return made

    return document


class Router(APIRouter):
    """Routes whose operations are called as their functions, in camel case.

    The app takes these routes as they are. By `include_router` it would make each of them again
    before its first answer, and look up the route of each request twice.
    """

    def __init__(self, responses: Responses | None = None, **options: Any) -> None:
        """`responses`: of each route, beside ALWAYS. `options`: of FastAPI's router."""
        super().__init__(
            generate_unique_id_function=lambda route: to_camel(route.name),
            responses={**document_responses(*ALWAYS), **(responses or {})},
            **options,
        )


class CountRequests:
    """Counts a request when its answer begins, so that the length of a stream does not count.

    There are few series: the API defines operations and statuses.
    """

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._requests = Counter(
            "retail_http_requests",
            "Requests answered, by operation and HTTP status.",
            ("operation", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "retail_http_answer_seconds",
            "From a request's arrival to the head of its answer, by operation and HTTP status.",
            ("operation", "status"),
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = monotonic()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(scope, message["status"], began)
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        except Exception:
            # An outer layer answers it with a problem document.
            self._add(scope, 500, began)
            raise

    def _add(self, scope: Scope, status: int, began: float) -> None:
        name = getattr(scope.get("route"), "name", None)
        labels = (to_camel(name) if name else NO_OPERATION, str(status))
        self._requests.labels(*labels).inc()
        self._seconds.labels(*labels).observe(monotonic() - began)
