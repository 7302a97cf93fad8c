"""The router of the routes about one noun, and the traffic of each operation."""

from time import monotonic
from typing import Any

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.api.http.problems import ALWAYS, Responses, document_responses

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
NO_OPERATION = "none"
"""Of a file of the pages, a path that no route has, and a request refused before routing."""


class Router(APIRouter):
    """Routes whose operations are called as their functions.

    The app takes these routes as they are. By `include_router` it would make each of them again
    before its first answer, and look up the route of each request twice.
    """

    def __init__(self, responses: Responses | None = None, **options: Any) -> None:
        """`responses`: of each route, beside ALWAYS. `options`: of FastAPI's router."""
        super().__init__(
            generate_unique_id_function=lambda route: name_operation(route.name),
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
        labels = (name_operation(name) if name else NO_OPERATION, str(status))
        self._requests.labels(*labels).inc()
        self._seconds.labels(*labels).observe(monotonic() - began)


def name_operation(function: str) -> str:
    """The id of the operation of a route function: its name in camel case."""
    first, *others = function.split("_")
    return first + "".join(word.capitalize() for word in others)
