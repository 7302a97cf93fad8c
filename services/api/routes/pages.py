"""GET /, /stock and others: pages that show the shop live, from what everybody may ask for.

The files in services/api/pages are served as they are; no step builds them. A browser asks for each
again by its ETag, so that a page never runs with the script of another version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

from fastapi import APIRouter, Header, Response

from services.api.http import static
from services.api.http.problems import Problem
from services.api.http.sources import FromSources
from services.api.routes import catalogue, docs, quality

PATH = "/pages"
FOLDER = files("services.api") / "pages"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

# Nothing from other sites and nothing inline: no text of an answer becomes a script.
POLICY = "script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
HEADERS = {
    **static.create_headers(POLICY),
    "Cache-Control": "no-cache",  # kept, and asked for again: a 304 costs nothing beside the API
    "Referrer-Policy": "no-referrer",
}

PAGES = {
    "/": "Shop",
    "/stock": "Stock",
    "/alerts": "Alerts",
    "/replenishment": "Replenishment",
    "/pipelines": "Pipelines",
    "/replay": "Replay",
}
OTHERS = {catalogue.PATH: "Catalogue", quality.PATH: "Data Docs", docs.PATH: "API docs"}

IfNoneMatch = Annotated[str | None, Header()]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class File:
    content: bytes
    kind: str

    @property
    def etag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:16]}"'

    def respond(self, known: str | None) -> Response:
        """The file; without it where the browser already has it, by the ETags that it knows."""
        headers = {**HEADERS, "ETag": self.etag}
        if known is not None and self.etag in known:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(self.content, media_type=self.kind, headers=headers)


@router.get(f"{PATH}/{{name}}")
async def get_file(name: str, if_none_match: IfNoneMatch = None) -> Response:
    if name not in FILES:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "Unknown page",
            f"Expected one of {', '.join(FILES)}, found {name[: static.FOUND_CHARACTERS_MAX]}.",
        )
    return FILES[name].respond(if_none_match)


def _add_page(path: str, title: str) -> None:
    @router.get(path)
    def get_page(sources: FromSources, if_none_match: IfNoneMatch = None) -> Response:
        has_data_docs = (sources.data_docs / "index.html").is_file()
        page = render(path, title, has_data_docs).encode()
        return File(page, "text/html").respond(if_none_match)


@cache
def render(path: str, title: str, has_data_docs: bool) -> str:
    """A page in the frame that all of them share."""
    name = title.lower()
    return Template(_read("frame.html")).substitute(
        title=title,
        name=name,
        links="\n".join(_list_links(path, has_data_docs)),
        content=_read(f"{name}.html"),
    )


def _list_links(path: str, has_data_docs: bool) -> Iterator[str]:
    for address, title in (PAGES | OTHERS).items():
        if address == quality.PATH and not has_data_docs:
            continue
        current = ' aria-current="page"' if address == path else ""
        yield f'<a href="{address}"{current}>{escape(title)}</a>'


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _read_files() -> Mapping[str, File]:
    """What pages load, by name: their own files, and the style whose frame they share."""
    own = {file.name: file.read_bytes() for file in FOLDER.iterdir()}
    style = (files("contracts.catalogue") / "style.css").read_bytes()
    return {
        name: File(content, KINDS[Path(name).suffix])
        for name, content in sorted({**own, "catalogue.css": style}.items())
        if Path(name).suffix in KINDS
    }


FILES = _read_files()
for _path, _title in PAGES.items():
    _add_page(_path, _title)
