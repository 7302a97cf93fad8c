"""GET /quality: the Data Docs of the lake, as the last `make quality` wrote them."""

from pathlib import Path

from fastapi import Response
from fastapi.responses import FileResponse

from services.api.http import static
from services.api.http.sources import Sources

PATH = "/quality"

# The pages have scripts and styles of their own. They ask for more from other sites, in vain.
HEADERS = static.create_headers(
    "style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


EXPECTED = (
    f"a page of the Data Docs, found {{found}}. They begin at {static.first_page(PATH)}, once "
    "make quality has written them; that needs the lake: make up LAKE=on."
)


def find_page(sources: Sources, name: str) -> Response | None:
    file = find_below(sources.data_docs, name)
    return FileResponse(file, headers=HEADERS) if file else None


def find_below(folder: Path, name: str) -> Path | None:
    """The file of that name below the folder, if there is one."""
    file = (folder / name).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None


router = static.create_router(PATH, find_page, EXPECTED)
