"""Pages that are served as they are: no part of the API's document, and nothing from elsewhere."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from services.api.problems import Problem

FOUND_CHARACTERS_MAX = 80


def routes(path: str, page: Callable[[str], Response | None], expected: str) -> APIRouter:
    """The pages below the path, which itself leads to the first.

    Expected: what to say to whoever asks for a page that is not there.
    """
    router = APIRouter(include_in_schema=False)

    @router.get(path)
    @router.get(f"{path}/")
    async def get_first() -> RedirectResponse:
        return RedirectResponse(first(path), HTTPStatus.TEMPORARY_REDIRECT)

    @router.get(f"{path}/{{name:path}}")
    def get_page(name: str) -> Response:
        found = page(name)
        if found is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Unknown page",
                f"Expected {expected.format(found=name[:FOUND_CHARACTERS_MAX])}",
            )
        return found

    return router


def first(path: str) -> str:
    """The page to begin at."""
    return f"{path}/index.html"


def headers(policy: str) -> Mapping[str, str]:
    """Of a page that may do no more than the policy says beyond nothing."""
    closed = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return {
        "Content-Security-Policy": f"default-src 'none'; {policy}; {closed}",
        "X-Content-Type-Options": "nosniff",
    }
