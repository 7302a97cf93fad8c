"""Static pages: outside the OpenAPI document, and without content from other sites."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated

from fastapi import Header, Response
from fastapi.responses import RedirectResponse

from services.api.http.problems import NotFound, Problem
from services.api.http.router import Router
from services.api.http.sources import FromSources, Sources

FOUND_CHARACTERS_MAX = 80

IfNoneMatch = Annotated[str | None, Header()]

Find = Callable[[Sources, str], Response | None]
"""Finds a page by its name."""


@dataclass(frozen=True)
class File:
    """A file with the headers that a browser gets, its ETag among them."""

    content: bytes
    kind: str
    headers: Mapping[str, str]

    @property
    def etag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:16]}"'

    def respond(self, known: str | None) -> Response:
        """The file; a 304 where the browser's ETags show that it has the file."""
        headers = {**self.headers, "ETag": self.etag}
        if known is not None and self.etag in known:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(self.content, media_type=self.kind, headers=headers)


def create_router(path: str, find: Find, expected: str) -> Router:
    """The pages below the path; the path itself redirects to the first.

    `expected` is the message for a page that does not exist.
    """
    router = Router(include_in_schema=False)

    @router.get(path)
    @router.get(f"{path}/")
    async def get_first() -> RedirectResponse:
        return RedirectResponse(locate_first_page(path), HTTPStatus.TEMPORARY_REDIRECT)

    @router.get(f"{path}/{{name:path}}")
    def get_page(name: str, sources: FromSources) -> Response:
        page = find(sources, name)
        if page is None:
            raise describe_unknown(expected, name)
        return page

    return router


def describe_unknown(expected: str, name: str) -> Problem:
    """The problem of a page that does not exist."""
    return NotFound(
        "Unknown page",
        f"Expected {expected.format(found=name[:FOUND_CHARACTERS_MAX])}",
    )


def locate_first_page(path: str) -> str:
    """The path of the first page."""
    return f"{path}/index.html"


def create_headers(policy: str, framed_by: str = "'none'") -> Mapping[str, str]:
    """Headers that forbid a page everything except what the policy allows."""
    closed = f"base-uri 'none'; form-action 'none'; frame-ancestors {framed_by}"
    return {"Content-Security-Policy": f"default-src 'none'; {policy}; {closed}"}
