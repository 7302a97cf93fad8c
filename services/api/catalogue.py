"""GET /catalogue: every topic and view, who writes it and who reads it, as pages.

They are made from the contracts that this process runs with, when the first one is asked for.
"""

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from contracts import catalog
from contracts.catalogue.site import site
from services.api import quality
from services.api.problems import Problem

PATH = "/catalogue"
FIRST = f"{PATH}/index.html"
KINDS = {".html": "text/html", ".css": "text/css"}

# Pages of text and one style: nothing runs, nothing comes from elsewhere.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}


def routes() -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get(PATH)
    @router.get(f"{PATH}/")
    async def get_catalogue() -> RedirectResponse:
        return RedirectResponse(FIRST, HTTPStatus.TEMPORARY_REDIRECT)

    @router.get(f"{PATH}/{{name:path}}")
    def get_page(name: str) -> Response:
        text = _site().get(name)
        if text is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Unknown page",
                f"Expected a page of the catalogue, found {name[:80]}. Begin at {FIRST}.",
            )
        return Response(text, media_type=KINDS[Path(name).suffix], headers=HEADERS)

    return router


@cache
def _site() -> Mapping[str, str]:
    return site(Path(catalog.__file__).parent, data_docs=quality.PATH)
