"""GET /quality: the Data Docs of the lake, as `make quality` has last written them."""

from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from services.api import pages
from services.api.sources import Sources

PATH = "/quality"

# The pages bring scripts and styles of their own, and ask for more from elsewhere: that stays out.
HEADERS = pages.headers(
    "style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


def routes(sources: Sources) -> APIRouter:
    expected = (
        f"a page of the Data Docs, found {{found}}. They begin at {pages.first(PATH)}, once "
        "make quality has written them; that needs the lake: make up LAKE=on."
    )

    def page(name: str) -> Response | None:
        file = below(sources.data_docs, name)
        return FileResponse(file, headers=HEADERS) if file else None

    return pages.routes(PATH, page, expected)


def below(folder: Path, name: str) -> Path | None:
    """The file of that name below the folder, if there is one."""
    file = (folder / name).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
