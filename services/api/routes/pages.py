"""GET /, /stock and others: pages that show the shop live, from the API's public answers.

The files in services/api/pages are served unchanged, without a build step. A browser revalidates
each by its ETag, so a page never runs with the script of another version. In the same frame is
GET /docs, every route to read and to try.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from services.api.http.router import Router

PATH = "/pages"
FOLDER = Path(__file__).parents[1] / "pages"
API_DOCS = "/docs"
PAGES: Mapping[str, str] = {
    "/": "Shop",
    "/stock": "Stock",
    "/alerts": "Alerts",
    "/replenishment": "Replenishment",
    "/prices": "Prices",
    "/pipelines": "Pipelines",
    "/replay": "Replay",
}
"""The pages that follow the shop, by path."""
LINKS: Mapping[str, str] = {**PAGES, API_DOCS: "API docs"}
SERVED = (".css", ".js", ".svg")
"""The ends of the names of the files that are served as they are; the others are parts of pages."""
ACTING = ("/", "/pipelines", "/replay")
"""The pages with actions; each has the dialog that asks for confirmation."""

NO_SCRIPT = """<noscript><p>The figures are read by a script from the API, which this browser may
not run. The same stands in <a href="/docs">the API</a>.</p></noscript>"""

router = Router(include_in_schema=False)


def build_headers(policy: str) -> Mapping[str, str]:
    """The headers of a page whose content security policy has these directives, too.

    It loads nothing from other sites and nothing inline: no text of an answer becomes a script.
    """
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'self'; {policy}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-cache",  # kept, and asked for again: a 304 costs nothing
        "Referrer-Policy": "no-referrer",
    }


SCRIPTS = "script-src 'self'; connect-src 'self'"
OF_PAGES = build_headers(f"img-src 'self'; {SCRIPTS}")
OF_REFERENCE = build_headers(f"img-src 'self' data:; {SCRIPTS}")
"""Swagger UI has its icons inline."""


class Files(StaticFiles):
    """The files that pages load."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        if not path.endswith(SERVED):
            return "", None
        return super().lookup_path(path)

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers.update(OF_PAGES)
        return response


router.mount(PATH, Files(directory=FOLDER), name="file")


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _add_page(path: str) -> None:
    headers = OF_REFERENCE if path == API_DOCS else OF_PAGES

    @router.get(path)
    def get_page() -> Response:
        return HTMLResponse(_render_page(path), headers=headers)


@cache
def _render_page(path: str) -> str:
    """The whole page: links to all pages, the style, and the content."""
    name, is_live = path.strip("/") or "shop", path in PAGES
    links = []
    for address, title in LINKS.items():
        current = ' aria-current="page"' if address == path else ""
        links.append(f'<a href="{address}"{current}>{title}</a>')
    return Template(_read("frame.html")).substitute(
        title=LINKS[path],
        script=f'<script type="module" src="{PATH}/{name}.js"></script>',
        links="\n".join(links),
        kind="live" if is_live else "text",
        status=_read("status.html") if is_live else "",
        content=_read(f"{name}.html") + (_read("confirmation.html") if path in ACTING else ""),
        noscript=NO_SCRIPT if is_live else "",
    )


for _path in (*PAGES, API_DOCS):
    _add_page(_path)
