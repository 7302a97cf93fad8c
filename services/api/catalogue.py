"""GET /catalogue: every topic and view, who writes it and who reads it, as pages.

They are made from the contracts that this process runs with, when the first one is asked for.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response

from contracts import catalog
from contracts.catalogue.site import site
from services.api import pages, quality

PATH = "/catalogue"
KINDS = {".html": "text/html", ".css": "text/css"}

# Pages of text and one style: nothing runs.
HEADERS = pages.headers("style-src 'self'; img-src data:")


def routes() -> APIRouter:
    expected = f"a page of the catalogue, found {{found}}. Begin at {pages.first(PATH)}."
    return pages.routes(PATH, page, expected)


def page(name: str) -> Response | None:
    text = _site().get(name)
    if text is None:
        return None
    return Response(text, media_type=KINDS[Path(name).suffix], headers=dict(HEADERS))


@cache
def _site() -> Mapping[str, str]:
    return site(Path(catalog.__file__).parent, data_docs=quality.PATH)
