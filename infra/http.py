"""A client of the services that answer over HTTP: the API, and Spark's own pages.

A container's readiness probe imports it, so it imports little.
"""

import json
import ssl
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.request import Request, urlopen

from infra.clock import get_wall_ms
from infra.security.files import locate_authority
from infra.security.tokens import read_own
from infra.settings import Settings

NO_ANSWER = (OSError, HTTPException, ValueError)
"""The exceptions of a request: no answer, an error status (`HTTPError`), or no JSON."""


def open_answer(url: str, seconds_max: float, shop: Settings | None = None) -> HTTPResponse:
    """The answer as a stream; the caller closes it. Raises one of NO_ANSWER.

    `seconds_max`: how long the service may be silent. `shop`: the shop of the API at this address;
    for a secure one the request checks the certificate and carries a token.
    """
    request, trusted = Request(url), None
    if shop is not None and shop.secure:
        trusted = ssl.create_default_context(cafile=locate_authority(shop))
        if (token := read_own(shop, get_wall_ms())) is not None:
            request.add_header("Authorization", f"Bearer {token}")
    answer: HTTPResponse = urlopen(request, timeout=seconds_max, context=trusted)
    return answer


def fetch_json(url: str, seconds_max: float, shop: Settings | None = None) -> Any:
    """The answer, parsed from JSON. Raises one of NO_ANSWER. `shop`: see `open_answer`."""
    with open_answer(url, seconds_max, shop) as answer:
        return json.load(answer)
