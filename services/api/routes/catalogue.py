"""GET /catalogue: pages about every topic and view, their writers and readers.

The first request renders them from the contracts that this process runs with.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from fastapi import Response

from contracts import catalog
from contracts.catalogue import pages
from contracts.catalogue.markup import join, render_element
from contracts.catalogue.site import build_site
from services.api.http import frame, static
from services.api.http.sources import Sources

PATH = frame.CATALOGUE
KINDS = {".html": "text/html", ".css": "text/css"}

# The pages have text and styles; no script runs.
HEADERS = static.create_headers("style-src 'self'; img-src 'self'")


EXPECTED = f"a page of the catalogue, found {{found}}. Begin at {static.locate_first_page(PATH)}."


def find_page(sources: Sources, name: str) -> Response | None:
    text = _render_site(sources.has_data_docs).get(name)
    if text is None:
        return None
    return Response(text, media_type=KINDS[Path(name).suffix], headers=dict(HEADERS))


@cache
def _render_site(has_data_docs: bool) -> Mapping[str, str]:
    folder = Path(catalog.__file__).parent
    data_docs = frame.DATA_DOCS if has_data_docs else None
    return build_site(folder, data_docs, partial(_render, has_data_docs))


def _render(has_data_docs: bool, page: pages.Page) -> str:
    """A page of the catalogue in the frame of all pages."""
    ways = render_element("p", pages.list_ways(page.base), class_="ways")
    framed = frame.Page(
        PATH,
        page.title,
        join(ways, page.body),
        style=f"{page.base}style.css",
        kind="text",
    )
    return frame.render(framed, has_data_docs)


router = static.create_router(PATH, find_page, EXPECTED)
