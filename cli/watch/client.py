"""The API client of `retail watch`."""

import json
from typing import Any
from urllib.error import HTTPError

from infra.http import NO_ANSWER, fetch_json
from infra.settings import Settings

ANSWER_SECONDS_MAX = 5.0
PROBLEM_BYTES_MAX = 65_536


class Unreachable(Exception):
    """There is no answer at the address, or none in JSON."""


class Refused(Exception):
    """The API answers with a problem."""

    def __init__(self, title: str, detail: str) -> None:
        super().__init__(f"{title}: {detail}" if detail else title)


class Client:
    """Asks one API. `shop`: whose it is, so that a secure one is shown a token."""

    def __init__(self, address: str, shop: Settings | None = None) -> None:
        self.address = address
        self._shop = shop

    def ask(self, path: str) -> Any:
        """The answer's JSON. Raises Unreachable and Refused."""
        try:
            return fetch_json(f"{self.address}{path}", ANSWER_SECONDS_MAX, self._shop)
        except HTTPError as error:
            raise _read_problem(error) from error
        except NO_ANSWER as error:
            raise Unreachable(str(error)) from error


def _read_problem(error: HTTPError) -> Refused:
    """The detail of the problem document, or the status alone."""
    try:
        document = json.loads(error.read(PROBLEM_BYTES_MAX))
        return Refused(str(document["title"]), str(document.get("detail", "")))
    except (*NO_ANSWER, LookupError, TypeError, AttributeError):
        return Refused(f"Status {error.code}", "")
