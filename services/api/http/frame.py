"""The frame of every page: links to all pages, the style, and the policy for what a page loads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from services.api.http import static

PATH = "/pages"
FOLDER = files("services.api") / "pages"

CATALOGUE, DATA_DOCS, API_DOCS = "/catalogue", "/quality", "/docs"
LIVE: Mapping[str, str] = {
    "/": "Shop",
    "/stock": "Stock",
    "/alerts": "Alerts",
    "/replenishment": "Replenishment",
    "/pipelines": "Pipelines",
    "/replay": "Replay",
}
"""The pages that follow the shop, by path."""
LINKS: Mapping[str, str] = {
    **LIVE,
    CATALOGUE: "Catalogue",
    DATA_DOCS: "Data Docs",
    API_DOCS: "API docs",
}

# A page loads nothing from other sites and nothing inline: no text of an answer becomes a script.
POLICY = "script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'"
HEADERS = {
    **static.create_headers(POLICY),
    "Cache-Control": "no-cache",  # kept, and asked for again: a 304 costs nothing beside the API
    "Referrer-Policy": "no-referrer",
}

NO_SCRIPT = """<noscript><p>The figures are read by a script from the API, which this browser may
not run. The same stands in <a href="/docs">the API</a>.</p></noscript>"""


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
    style: str = f"{PATH}/catalogue.css"
    """The address of the style that precedes the pages' own."""
    kind: str = "live"
    """The class of its content: `live`, or `text` where tables hold sentences."""


def render(page: Page, has_data_docs: bool) -> str:
    """The whole page."""
    script = f'<script type="module" src="{PATH}/{page.script}"></script>' if page.script else ""
    return Template(read("frame.html")).substitute(
        title=escape(page.title),
        style=page.style,
        script=script,
        links="\n".join(_list_links(page.path, has_data_docs)),
        kind=page.kind,
        content=page.content,
        noscript=NO_SCRIPT if page.script and page.kind == "live" else "",
    )


def read(name: str) -> str:
    """A file of the pages' folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _list_links(path: str, has_data_docs: bool) -> Iterator[str]:
    for address, title in LINKS.items():
        if address == DATA_DOCS and not has_data_docs:
            continue
        current = ' aria-current="page"' if address == path else ""
        yield f'<a href="{address}"{current}>{escape(title)}</a>'
