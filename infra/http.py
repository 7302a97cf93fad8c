"""A client of the services that answer over HTTP: the API, and Spark's own pages.

A container's readiness probe imports it, so it stands on the standard library alone.
"""

import json
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.request import urlopen

NO_ANSWER = (OSError, HTTPException, ValueError)
"""What a request raises: nobody answers, an error is answered (`HTTPError`), or it is not JSON."""


def open_answer(url: str, seconds_max: float) -> HTTPResponse:
    """The answer, to be read as it comes; the caller closes it. Raises one of NO_ANSWER.

    `seconds_max`: how long the service may be silent.
    """
    answer: HTTPResponse = urlopen(url, timeout=seconds_max)
    return answer


def fetch_json(url: str, seconds_max: float) -> Any:
    """The answer, from JSON. Raises one of NO_ANSWER."""
    with open_answer(url, seconds_max) as answer:
        return json.load(answer)
