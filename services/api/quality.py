"""GET /quality: the Data Docs of the lake, as `make quality` has last written them."""

from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, RedirectResponse

from services.api.problems import Problem
from services.api.sources import Sources

PATH = "/quality"
FIRST = f"{PATH}/index.html"

# The pages bring scripts and styles of their own, and ask for more from elsewhere: that stays out.
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}


def routes(sources: Sources) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get(PATH)
    @router.get(f"{PATH}/")
    async def get_quality() -> RedirectResponse:
        return RedirectResponse(FIRST, HTTPStatus.TEMPORARY_REDIRECT)

    @router.get(f"{PATH}/{{name:path}}")
    def get_page(name: str) -> Response:
        file = page(sources.data_docs, name)
        if file is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "Unknown page",
                f"Expected a page of the Data Docs, found {name[:80]}. They begin at {FIRST}, once "
                "make quality has written them; that needs the lake: make up LAKE=on.",
            )
        return FileResponse(file, headers=HEADERS)

    return router


def page(folder: Path, name: str) -> Path | None:
    """The file of that name below the folder, if there is one."""
    file = (folder / name).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
