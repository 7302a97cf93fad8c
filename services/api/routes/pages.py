"""GET /, /stock and others: pages that show the shop live, from the API's public answers.

The files in services/api/pages are served unchanged, without a build step. A browser revalidates
each by its ETag, so a page never runs with the script of another version. In the same frame is
GET /docs, every route to read and to try.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from http import HTTPStatus
from pathlib import Path
from string import Template
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.api.http.problems import NotFound
from services.api.http.router import Router

PATH = "/pages"
FOLDER = Path(__file__).parents[1] / "pages"
API_DOCS = "/docs"
FOUND_CHARACTERS_MAX = 80
PAGES: Mapping[str, str] = {
    "/": "Shop",
    "/stock": "Stock",
    "/alerts": "Alerts",
    "/replenishment": "Replenishment",
    "/pipelines": "Pipelines",
    "/replay": "Replay",
}
"""The pages that follow the shop, by path."""
LINKS: Mapping[str, str] = {
    **PAGES,
    API_DOCS: "API docs",
}
SERVED = (".css", ".js", ".svg")
"""The ends of the names of the files that are served as they are; the others are parts of pages."""
ACTING = ("/pipelines", "/replay")
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

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != HTTPStatus.NOT_FOUND:
                raise
            found = path[:FOUND_CHARACTERS_MAX]
            raise NotFound(
                "Unknown page", f"Expected a file of the pages, found {found}. Begin at /."
            ) from error

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers.update(OF_PAGES)
        return response


router.mount(PATH, Files(directory=FOLDER), name="file")


@dataclass(frozen=True)
class Page:
    """The parts in which pages differ."""

    path: str
    """The path of the link that is marked as the present one."""
    title: str
    content: str
    """HTML."""
    script: str | None = None
    """The name of its script among the files; None for a page without one."""
    kind: str = "live"
    """The class of its content: `live`, or `text` where tables hold sentences."""


def render(page: Page) -> str:
    """The whole page: links to all pages, the style, and the content."""
    links = []
    for path, title in LINKS.items():
        current = ' aria-current="page"' if path == page.path else ""
        links.append(f'<a href="{path}"{current}>{title}</a>')
    script = f'<script type="module" src="{PATH}/{page.script}"></script>' if page.script else ""
    return Template(_read("frame.html")).substitute(
        title=escape(page.title),
        script=script,
        links="\n".join(links),
        kind=page.kind,
        content=page.content,
        noscript=NO_SCRIPT if page.script and page.kind == "live" else "",
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _add_page(path: str) -> None:
    headers = OF_REFERENCE if path == API_DOCS else OF_PAGES

    @router.get(path)
    def get_page() -> Response:
        return HTMLResponse(_render_page(path), headers=headers)


@cache
def _render_page(path: str) -> str:
    name = path.strip("/") or "shop"
    dialog = _read("confirmation.html") if path in ACTING else ""
    kind = "live" if path in PAGES else "text"
    page = Page(path, LINKS[path], _read(f"{name}.html") + dialog, script=f"{name}.js", kind=kind)
    return render(page)


for _path in (*PAGES, API_DOCS):
    _add_page(_path)
