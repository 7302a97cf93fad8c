"""Requests that are refused before any other work: too long, too many, or to another host.

The API knows the names by which it may be asked. A site of a stranger can let its own name lead to
this machine, and then reads what the API answers as its own (DNS rebinding). The browser still says
the name in `Host`.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.settings import THIS_MACHINE
from services.api.http.problems import respond
from services.api.problem import Problem, Unavailable

URL_BYTES_MAX = 4_096
BODIES_UNDER = "/v1/events/"
LOOKUPS_UNDER = "/subjects/"
BODY_BYTES_MAX = 1_048_576  # one event: as much as Kafka takes
LOOKUP_BYTES_MAX = 65_536  # one schema, with many words in it; it nests no deeper than a parser can
BODIES = {BODIES_UNDER: BODY_BYTES_MAX, LOOKUPS_UNDER: LOOKUP_BYTES_MAX}
BODY_SECONDS_MAX = 10.0
METHODS = ("GET", "HEAD", "POST")
REQUESTS_AT_ONCE_MAX = 256
FOUND_CHARACTERS_MAX = 80
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?")


class Limits:
    """Refuses a request to another host or beyond a limit before any other work on it."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._find_refusal(Request(scope))
        if refusal is not None:
            await respond(refusal, scope["path"])(scope, receive, send)
            return
        self._at_once += 1  # only the event loop touches it
        try:
            await self._app(scope, receive, send)
        finally:
            self._at_once -= 1

    def _find_refusal(self, request: Request) -> Problem | None:
        if not self._is_own(request):
            found = request.headers.get("host", "none")[:FOUND_CHARACTERS_MAX]
            return Problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "Another host",
                f"Expected a request to {', '.join(THIS_MACHINE)} or a host that SHOP_HOSTS names, "
                f"found {found}. Start the shop with this name in SHOP_HOSTS if it is its own.",
            )
        url_bytes = len(request.scope["raw_path"]) + len(request.scope["query_string"])
        if url_bytes > URL_BYTES_MAX:
            return Problem(
                HTTPStatus.REQUEST_URI_TOO_LONG,
                "URL too long",
                f"Expected a path and query of at most {URL_BYTES_MAX} bytes, found {url_bytes}. "
                "Ask for less at a time.",
            )
        length = request.headers.get("content-length", "0")
        has_body = length != "0" or "transfer-encoding" in request.headers
        if has_body and (refusal := _refuse_body(request)):
            return refusal
        if self._at_once >= REQUESTS_AT_ONCE_MAX:
            return Unavailable(
                "Too busy",
                f"Expected at most {REQUESTS_AT_ONCE_MAX} requests at once, found more. "
                "Try again in a second.",
            )
        return None

    def _is_own(self, request: Request) -> bool:
        """Whether it names the shop, or the address at which it arrived: no name leads there."""
        name = read_host(request)
        return name in self._hosts or (name != "" and name == request.scope["server"][0])


def _refuse_body(request: Request) -> Problem | None:
    close = {"Connection": "close"}
    path = request.scope["path"]
    bytes_max = next((most for under, most in BODIES.items() if path.startswith(under)), None)
    if request.method != "POST" or bytes_max is None:
        may = request.method in METHODS
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE if may else HTTPStatus.METHOD_NOT_ALLOWED,
            "Body not accepted" if may else "Method not allowed",
            f"Expected {', '.join(METHODS)} and no body here, found a body of "
            f"{request.method[:FOUND_CHARACTERS_MAX]}. GET /openapi.json says what a path takes.",
            headers={**close, "Allow": ", ".join(METHODS)},
        )
    length = request.headers.get("content-length")
    # The server enforces only the announced length, and not that of a body in chunks.
    if length is None or "transfer-encoding" in request.headers:
        return Problem(
            HTTPStatus.LENGTH_REQUIRED,
            "Length required",
            "Expected a body with its Content-Length, not in chunks. Send it in one piece.",
            headers=close,
        )
    if int(length) > bytes_max:
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "Body too large",
            f"Expected one event or schema of at most {bytes_max} bytes, found {length}. "
            "Publish many events with a Kafka client.",
            headers=close,
        )
    return None


async def receive(request: Request) -> bytes:
    """The whole body. Raises Problem."""
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


def read_host(request: Request) -> str:
    """The host that the request is to, without the port; empty where it names none."""
    found = HOST.fullmatch(request.headers.get("host", "").lower())
    return "" if found is None else found[1] or found[2]


def is_to_this_machine(request: Request) -> bool:
    """Whether the request names this machine as a program on it does."""
    return read_host(request) in THIS_MACHINE


def refuse_other_sites(request: Request) -> None:
    """Refuse a request of another site's page. A browser names the page; a program names none."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    # The scheme is left out: before the API may be a proxy with TLS.
    if origin is None or origin.partition("://")[2].lower() == host.lower():
        return
    raise Problem(
        HTTPStatus.FORBIDDEN,
        "Another site",
        "Expected a request of this API's own pages or of a program, found one of a page of "
        f"{origin[:FOUND_CHARACTERS_MAX]}.",
    )
