"""Static pages: outside the OpenAPI document, and without content from other sites."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from services.api.http.problems import Problem
from services.api.http.sources import FromSources, Sources

FOUND_CHARACTERS_MAX = 80

Find = Callable[[Sources, str], Response | None]
"""Finds a page by its name."""


def create_router(path: str, find: Find, expected: str) -> APIRouter:
    """The pages below the path; the path itself redirects to the first.

    `expected` is the message for a page that does not exist.
    """
    router = APIRouter(include_in_schema=False)

    @router.get(path)
    @router.get(f"{path}/")
    async def get_first() -> RedirectResponse:
        return RedirectResponse(first_page(path), HTTPStatus.TEMPORARY_REDIRECT)

    @router.get(f"{path}/{{name:path}}")
    def get_page(name: str, sources: FromSources) -> Response:
        found = find(sources, name)
        if found is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Unknown page",
                f"Expected {expected.format(found=name[:FOUND_CHARACTERS_MAX])}",
            )
        return found

    return router


def first_page(path: str) -> str:
    """The path of the first page."""
    return f"{path}/index.html"


def create_headers(policy: str) -> Mapping[str, str]:
    """Headers that forbid a page everything except what the policy allows."""
    closed = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return {
        "Content-Security-Policy": f"default-src 'none'; {policy}; {closed}",
        "X-Content-Type-Options": "nosniff",
    }
