"""GET /catalogue: pages about every topic and view, its writers and its readers.

The first request renders them from the contracts that this process runs with.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import Response

from contracts import catalog
from contracts.catalogue.site import site
from services.api.http import static
from services.api.http.sources import Sources
from services.api.routes import quality

PATH = "/catalogue"
KINDS = {".html": "text/html", ".css": "text/css"}

# Pages of text and one style; no script runs.
HEADERS = static.create_headers("style-src 'self'; img-src data:")


EXPECTED = f"a page of the catalogue, found {{found}}. Begin at {static.first_page(PATH)}."


def find_page(_: Sources, name: str) -> Response | None:
    text = _render_site().get(name)
    if text is None:
        return None
    return Response(text, media_type=KINDS[Path(name).suffix], headers=dict(HEADERS))


@cache
def _render_site() -> Mapping[str, str]:
    return site(Path(catalog.__file__).parent, data_docs=quality.PATH)


router = static.create_router(PATH, find_page, EXPECTED)
