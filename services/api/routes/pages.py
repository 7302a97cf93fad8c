"""GET /, /stock and others: pages that show the shop live, from the API's public answers.

It serves the files in services/api/pages unchanged, without a build step. A browser revalidates
each by its ETag, so a page never runs with the script of another version.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import Response

from services.api.http import frame, static
from services.api.http.problems import NotFound
from services.api.http.router import Router
from services.api.http.sources import FromSources
from services.api.http.static import File, IfNoneMatch

PATH = frame.PATH
PAGES = frame.LIVE
ACTING = ("/pipelines", "/replay")
"""The pages with actions; each has the dialog that asks for confirmation."""
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

router = Router(include_in_schema=False)


@router.get(f"{PATH}/{{name}}")
async def get_file(name: str, if_none_match: IfNoneMatch = None) -> Response:
    if name not in FILES:
        raise NotFound(
            "Unknown page",
            f"Expected one of {', '.join(FILES)}, found {name[: static.FOUND_CHARACTERS_MAX]}.",
        )
    return FILES[name].respond(if_none_match)


def _add_page(path: str) -> None:
    @router.get(path)
    def get_page(sources: FromSources, if_none_match: IfNoneMatch = None) -> Response:
        page = render(path, sources.has_data_docs).encode()
        return File(page, "text/html", frame.HEADERS).respond(if_none_match)


@cache
def render(path: str, has_data_docs: bool) -> str:
    """Render a page in the shared frame."""
    title = PAGES[path]
    name = title.lower()
    dialog = frame.read("confirmation.html") if path in ACTING else ""
    content = frame.read(f"{name}.html") + dialog
    return frame.render(frame.Page(path, title, content, script=f"{name}.js"), has_data_docs)


def _read_files() -> Mapping[str, File]:
    """The files that pages load, by name: their own, and the style of the shared frame."""
    own = {file.name: file.read_bytes() for file in frame.FOLDER.iterdir()}
    style = (files("contracts.catalogue") / "style.css").read_bytes()
    return {
        name: File(content, KINDS[Path(name).suffix], frame.HEADERS)
        for name, content in sorted({**own, "catalogue.css": style}.items())
        if Path(name).suffix in KINDS
    }


FILES = _read_files()
for _path in PAGES:
    _add_page(_path)
