"""The names by which the API may be asked. A page of another site knows it by no other one.

A site of a stranger can let its own name lead to this machine, and then reads what the API answers
as its own (DNS rebinding). The browser still says the name in `Host`.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.settings import THIS_MACHINE
from services.api.http.problems import Problem

HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?")
FOUND_CHARACTERS_MAX = 80


class Hosts:
    """Refuses a request to another host before any other work on it."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_own(scope):
            await self._app(scope, receive, send)
            return
        await _describe_other(Request(scope)).to_response(scope["path"])(scope, receive, send)

    def _is_own(self, scope: Scope) -> bool:
        """Whether it names the shop, or the address at which it arrived: no name leads there."""
        name = read_host(Request(scope))
        return name in self._hosts or (name != "" and name == scope["server"][0])


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


def _describe_other(request: Request) -> Problem:
    found = request.headers.get("host", "none")
    return Problem(
        HTTPStatus.MISDIRECTED_REQUEST,
        "Another host",
        f"Expected a request to {', '.join(THIS_MACHINE)} or a host that SHOP_HOSTS names, found "
        f"{found[:FOUND_CHARACTERS_MAX]}. Start the shop with this name in SHOP_HOSTS if it is its "
        "own.",
    )
