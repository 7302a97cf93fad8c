"""Limits of requests: the length of a URL, the size of a body, the number at once."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from services.api.http.problems import Problem

URL_BYTES_MAX = 4_096
BODY_BYTES_MAX = 1_048_576  # one event: as much as Kafka takes
BODIES_UNDER = "/v1/events/"
REQUESTS_AT_ONCE_MAX = 256


class Limits:
    """Refuses a request beyond a limit before any other work on it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._find_refusal(Request(scope))
        if refusal is not None:
            await refusal.to_response(scope["path"])(scope, receive, send)
            return
        self._at_once += 1  # only the event loop touches it
        try:
            await self._app(scope, receive, send)
        finally:
            self._at_once -= 1

    def _find_refusal(self, request: Request) -> Problem | None:
        url_bytes = len(request.scope["raw_path"]) + len(request.scope["query_string"])
        if url_bytes > URL_BYTES_MAX:
            return Problem(
                HTTPStatus.REQUEST_URI_TOO_LONG,
                "URL too long",
                f"Expected a path and query of at most {URL_BYTES_MAX} bytes, found {url_bytes}. "
                "Ask for less at a time.",
            )
        if _has_body(request) and (refusal := _refuse_body(request)):
            return refusal
        if self._at_once >= REQUESTS_AT_ONCE_MAX:
            return Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too busy",
                f"Expected at most {REQUESTS_AT_ONCE_MAX} requests at once, found more. "
                "Try again in a second.",
                headers={"Retry-After": "1"},
            )
        return None


def _has_body(request: Request) -> bool:
    length = request.headers.get("content-length", "0")
    return length != "0" or "transfer-encoding" in request.headers


def _refuse_body(request: Request) -> Problem | None:
    close = {"Connection": "close"}
    if request.method != "POST" or not request.scope["path"].startswith(BODIES_UNDER):
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "Body not accepted",
            "Expected no body, found one. Put what you ask for into the query.",
            headers=close,
        )
    length = request.headers.get("content-length")
    # The server enforces only the announced length, and not that of a body in chunks.
    if length is None or "transfer-encoding" in request.headers:
        return Problem(
            HTTPStatus.LENGTH_REQUIRED,
            "Length required",
            "Expected a body with its Content-Length, not in chunks. Send the event in one piece.",
            headers=close,
        )
    if int(length) > BODY_BYTES_MAX:
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "Body too large",
            f"Expected one event of at most {BODY_BYTES_MAX} bytes, found {length}. "
            "Publish many events with retail load, or with a Kafka client.",
            headers=close,
        )
    return None
